/** `tidemark log`: the keys that sign the log of a data folder. The server must be stopped. */
import type { Command } from 'commander';
import type { GlobalOptions } from '../program/profile.ts';
import { settings } from './commands.ts';

const HELP = `
The server must be stopped. Readers keep the public keys (GET /api/v1/log/vkey), so a key is changed in three steps:
  tidemark log rotate          makes the next key; from the next start on, both sign
  (weeks)                      readers find the new key in the log, which the old key has signed
  tidemark log end-rotation    the old key signs no more
See docs/operations.md, "The key of the log".`;

export function addLogCommands(program: Command): void {
  const log = program
    .command('log')
    .description('the keys that sign the log; the server must be stopped')
    .addHelpText('after', HELP);
  const add = (name: string, description: string, run: (environment: NodeJS.ProcessEnv) => Promise<void>) =>
    log
      .command(name)
      .description(description)
      .addHelpText('after', `\nExample:\n  tidemark log ${name} --data .tidemark`)
      .action(async (_, command: Command) => {
        await run(settings({ TIDEMARK_DATA: command.optsWithGlobals<GlobalOptions>().data }));
      });
  const commands = () => import('../../server/commands/log-keys.ts');
  add('keys', 'print the name of the log and its public keys', async (at) => (await commands()).showLogKeys(at));
  add('rotate', 'make the next key; both sign from the next start on', async (at) =>
    (await commands()).rotateLogKey(at),
  );
  add('end-rotation', 'remove the previous key', async (at) => (await commands()).endLogRotation(at));
  add('replace-lost-key', 'make another key after the key was lost for good', async (at) =>
    (await commands()).replaceLostLogKey(at),
  );
}
