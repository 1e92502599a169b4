/** The files of a folder, each with its mapping beside it: `prices.csv` with `prices.mapping.jsonc`. */
import { closeSync, type Dirent, existsSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formByName, formReader } from '../ingest/commands.ts';
import type { FileFlags } from '../ingest/file-options.ts';
import type { NamedFile } from '../ingest/ingest-files.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note } from '../program/output.ts';

const MAPPING = /\.mapping\.jsonc?$/;
/** A file that was set aside or packed by its name: `prices.csv.bak`, `prices.csv.xz`. The group is the earlier name. */
const RENAMED = /^(.+\.(?:csv|tsv|txt|ndjson|jsonl|json)(?:\.(?:gz|zst))?)[.~_-]/i;

interface Skipped {
  readonly name: string;
  readonly why: string;
  /** Whether the entry may have rows. Then the folder is not complete. */
  readonly isData: boolean;
}

/**
 * The files in the order of their names, and the targets of links. Records (NDJSON, JSON) need no mapping. A note names the
 * entries that are skipped.
 *
 * @param isComplete whether the files together have all rows. Then rows of skipped entries would be withdrawn
 * @param mapping the mapping of named files, which may lie in the folder without a file
 * @throws CommandError `usage` if the folder does not exist, if a mapping has faults or is missing, if the file of a mapping is
 *   missing, and for a complete folder with a skipped entry that looks like data
 */
export async function filesOf(
  folder: string,
  { complete: isComplete = false, mapping: ofNamed }: Pick<FileFlags, 'complete' | 'mapping'>,
): Promise<readonly NamedFile[]> {
  if (!existsSync(folder)) throw new CommandError('usage', `There is no folder ${folder}.`);
  const shown = readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => isShown(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const entries = shown.filter(({ name }) => !MAPPING.test(name));
  const unused = new Set(shown.flatMap(({ name }) => (MAPPING.test(name) ? [join(folder, name)] : [])));
  const files: NamedFile[] = [];
  const skipped: Skipped[] = [];
  const faults: CommandError[] = [];
  for (const { name } of entries) {
    const path = join(folder, name);
    const stats = statsOf(path);
    if (stats?.isFile() !== true) {
      skipped.push(...notAFile(name, path, stats));
      continue;
    }
    const base = path.replace(/\.[a-z0-9]+(\.(gz|zst))?$/i, '');
    const mapping = [`${base}.mapping.jsonc`, `${base}.mapping.json`].find((each) => existsSync(each));
    if (mapping === undefined && formByName(name) === null) {
      const [, earlier] = RENAMED.exec(name) ?? [];
      const isData = earlier === undefined ? beginsLikeData(path) : !existsSync(join(folder, earlier));
      skipped.push({ name, why: 'neither a known ending nor a mapping', isData });
      continue;
    }
    for (const ending of ['jsonc', 'json']) unused.delete(`${base}.mapping.${ending}`);
    try {
      files.push({ path, source: (await formReader({ mapping }, `${base}.mapping.jsonc`))(path) });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      faults.push(error);
    }
  }
  if (skipped.length > 0) note(`${folder}: skipped ${inWords(skipped)}.`);
  const lost = skipped.filter(({ isData }) => isData);
  if (isComplete && lost.length > 0) {
    throw new CommandError(
      'usage',
      `${folder} is not complete: it has data that are skipped: ${inWords(lost)}. Nothing was sent.`,
      'Move data files into the folder itself under their own endings, and other entries out of it. Or leave --complete out.',
    );
  }
  for (const path of unused) {
    if (ofNamed !== undefined && resolve(ofNamed) === resolve(path)) continue;
    const file = path.replace(MAPPING, '.csv');
    const hint = 'A download may have failed. If the data have ended, move their mapping out of the folder, too.';
    faults.push(new CommandError('usage', `${file} is missing: there is only its mapping ${path}.`, hint));
  }
  if (faults.length > 0) {
    const unsent =
      files.length === 0 ? '' : ` The other files were not sent either: ${files.map(({ path }) => path).join(', ')}.`;
    const hints = [...new Set(faults.map(({ hint }) => hint))].join('\n') || null;
    throw new CommandError('usage', `${faults.map(({ message }) => message).join(' ')}${unsent}`, hints);
  }
  return files;
}

const isShown = (name: string) => !name.startsWith('.');
const inWords = (skipped: readonly Skipped[]) => skipped.map(({ name, why }) => `${name} (${why})`).join(', ');

/** How JSON, gzip and zstd begin. */
const BEGINNINGS = ['{', '[', '\x1f\x8b', '\x28\xb5\x2f\xfd'];

/** A renamed file of records has no mapping beside it that would name its form. A file that cannot be read may be one. */
function beginsLikeData(path: string): boolean {
  const start = Buffer.alloc(64);
  try {
    const file = openSync(path, 'r');
    readSync(file, start);
    closeSync(file);
  } catch {
    return true;
  }
  const text = start
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  return BEGINNINGS.some((beginning) => text.startsWith(beginning));
}

/** Follows links. Null: a broken link, or an entry that cannot be read. */
function statsOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** A subfolder without data is not worth a note. */
function notAFile(name: string, path: string, stats: Stats | null): readonly Skipped[] {
  if (stats === null) return [{ name, why: 'a broken link', isData: true }];
  if (!stats.isDirectory()) return [{ name, why: 'not a regular file', isData: true }];
  const hasData = readdirSync(path, { recursive: true, withFileTypes: true }).some(isDataName);
  return hasData ? [{ name: `${name}/`, why: 'a subfolder with data files', isData: true }] : [];
}

function isDataName(entry: Dirent): boolean {
  return !entry.isDirectory() && isShown(entry.name) && formByName(entry.name) !== null;
}
