/** `tidemark exports`: the daily exports of a server on this machine. */
import type { Command } from 'commander';
import { note, printFields, printJson } from '../output.ts';
import type { GlobalOptions } from '../profile.ts';
import { settings } from './commands.ts';

const HELP = `
The server must run on this machine, as the same user. The export of today then shows what is published now. Exports of
earlier days stay as they are. See docs/exports.md.

Example:
  tidemark exports make --data .tidemark`;

export function addExportCommands(program: Command): void {
  program
    .command('exports')
    .description('the daily exports of a server on this machine')
    .command('make')
    .description('make the export of today again, without waiting for midnight')
    .addHelpText('after', HELP)
    .action(async (_, command: Command) => {
      const { data, json } = command.optsWithGlobals<GlobalOptions>();
      const { makeExportNow } = await import('../../embedded/commands/make-export.ts');
      note('The server makes the export of today. A million observations take some half a minute.');
      const { date } = await makeExportNow(settings({ TIDEMARK_DATA: data }));
      if (json) return await printJson({ date });
      await printFields([['made', date]]);
    });
}
