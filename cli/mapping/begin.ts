/** `tidemark mapping init`. */
import { basename } from 'node:path';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';
import { openInput } from '../ingest/open-input.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note, print } from '../program/output.ts';

/**
 * Prints the mapping. Messages name the decisions that a person must make.
 *
 * @throws CommandError if the form of the CSV file is not recognised
 */
export async function printBegunMapping(path: string): Promise<void> {
  const begun = await beginMapping((await openInput(path)).bytes, basename(path));
  if ('fault' in begun) throw new CommandError('usage', `${path}: ${begun.fault}`);
  await print(begun.text);
  for (const { line, pointer, detail } of begun.toFill) note(`line ${line} ${pointer}: ${detail}`);
  note(`Next: edit it, and run tidemark mapping check MAPPING ${path}`);
}
