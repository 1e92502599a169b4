/** Asks a person to confirm an irreversible change. A script must use `--yes`. */
import { createInterface } from 'node:readline';
import { CommandError } from './exit-codes.ts';
import { canAskPerson, printQuestion } from './output.ts';

/** @throws CommandError `usage` unless a person answers yes */
export async function askFirst(consequence: string): Promise<void> {
  if (!canAskPerson()) {
    throw new CommandError('usage', consequence, 'Without a terminal, no question can be asked: use --yes.');
  }
  // The terminal edits the line, and Ctrl-C ends the command.
  const lines = createInterface({ input: process.stdin, terminal: false });
  printQuestion(`${consequence}\nWrite yes to go on: `);
  const answer = await new Promise<string>((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
  lines.close();
  if (answer.trim().toLowerCase() !== 'yes') throw new CommandError('usage', 'Nothing was done.');
}
