/** `tidemark init`: the repository of a service without a server. */
import { type Command, Option } from 'commander';
import { logOrigin } from '../local/log-commands.ts';
import { HOSTS, type Host } from './hosts.ts';

const HELP = `
Writes the recipe, or a folder files/ for CSV files of yours, publish.sh, a workflow, a README with the licence of the data, and the key of the log, and names the next
steps. Files that are there are never replaced. See docs/hosting-static.md, "A job of GitHub or GitLab".

Examples:
  tidemark init prices --recipe ecb-daily --origin you.github.io/prices
  tidemark init prices --origin you.github.io/prices`;

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('make a repository that publishes without a server')
    .argument('[folder]', 'a new folder, or one that has none of these files', '.')
    .option('--recipe <place>', 'a file of a recipe, or a shipped recipe; default: a folder for your own CSV files')
    .addOption(
      new Option('--origin <name>', 'the name of the log for ever: where readers find it, without https://')
        .argParser(logOrigin)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--host <host>', 'who runs the job, and serves; with cloudflare, GitHub runs it')
        .choices(Object.keys(HOSTS))
        .default('github' satisfies Host),
    )
    .addHelpText('after', HELP)
    .action(
      async (folder: string, options: { readonly recipe?: string; readonly origin: string; readonly host: Host }) => {
        const { makeRepository } = await import('./make-repository.ts');
        await makeRepository(folder, options);
      },
    );
}
