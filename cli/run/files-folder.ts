/** The files of a folder, each with its mapping beside it: `prices.csv` with `prices.mapping.jsonc`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { formByName, formReader } from '../ingest/commands.ts';
import type { NamedFile } from '../ingest/ingest-files.ts';
import { CommandError } from '../program/exit-codes.ts';

const MAPPING = /\.mapping\.jsonc?$/;

/**
 * The files in the order of their names. Records (NDJSON, JSON) need no mapping. Files of other forms without a mapping are
 * ignored.
 *
 * @throws CommandError `usage` if the folder does not exist, if a mapping has faults, and for a CSV file without a mapping
 */
export async function filesOf(folder: string): Promise<readonly NamedFile[]> {
  if (!existsSync(folder)) throw new CommandError('usage', `There is no folder ${folder}.`);
  const names = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && !MAPPING.test(entry.name))
    .map(({ name }) => name);
  const files: NamedFile[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    const base = path.replace(/\.[a-z0-9]+(\.(gz|zst))?$/i, '');
    const mapping = [`${base}.mapping.jsonc`, `${base}.mapping.json`].find((each) => existsSync(each));
    if (mapping === undefined && formByName(name) === null) continue;
    files.push({ path, source: (await formReader({ mapping }, `${base}.mapping.jsonc`))(path) });
  }
  return files;
}
