/** `tidemark log`: the keys that sign the log of a data folder. The server must be stopped. */
import { type Command, InvalidArgumentError } from 'commander';
import { isLogOrigin } from '../../contract/log/origin.ts';
import { note, print } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { settings } from './commands.ts';

const HELP = `
The server must be stopped. Readers keep the public keys (GET /api/v1/log/vkey), so a key is changed in three steps:
  tidemark log rotate          makes the next key; from the next start on, both sign
  (weeks)                      readers find the new key in the log, which the old key has signed
  tidemark log end-rotation    stop signing with the old key
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
  const keys = add('keys', 'print the name of the log and its public keys', async (at) =>
    (await commands()).showLogKeys(at),
  );
  keys
    .command('new')
    .description('print a new private key, for the secret store of a job that runs tidemark run')
    .option(
      '--origin <name>',
      'the name of the log, such as data.example.com/prices (default: a random one)',
      logOrigin,
    )
    .addHelpText('after', '\nExample:\n  tidemark log keys new --origin data.example.com/prices > log-key')
    .action(async (_, command: Command) => {
      const { makeLogKey } = await commands();
      const { key, vkey } = makeLogKey(command.optsWithGlobals<{ readonly origin?: string }>().origin ?? null);
      await print(`${key}\n`);
      note(`Keep it secret, and keep a copy: a lost key ends the log. Readers verify with ${vkey}`);
    });
  add('rotate', 'make the next key; both sign from the next start on', async (at) =>
    (await commands()).rotateLogKey(at),
  );
  add('end-rotation', 'remove the previous key', async (at) => (await commands()).endLogRotation(at));
  add('replace-lost-key', 'make another key after the key was lost for good', async (at) =>
    (await commands()).replaceLostLogKey(at),
  );
}

/** `tidemark state`: the key of the state in a target. */
export function addStateCommands(program: Command): void {
  program
    .command('state')
    .description('the key with which tidemark run --state in-target seals the ledger')
    .command('keys')
    .description('its key')
    .command('new')
    .description('print a new key, for the secret store of the job; the form is that of age')
    .addHelpText('after', '\nExample:\n  tidemark state keys new > state-key')
    .action(async () => {
      const { newStateKey } = await import('../../server/state/state-key.ts');
      await print(`${await newStateKey()}\n`);
      note('Keep it secret, and keep a copy: without it, nobody can open the state again.');
    });
}

/** An argument that names a log. */
export function logOrigin(text: string): string {
  if (isLogOrigin(text)) return text;
  throw new InvalidArgumentError('Write a name such as data.example.com/prices, in lower case, without https://.');
}
