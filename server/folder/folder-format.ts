import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { putFileSync } from '../../storage/directory/durable-files.ts';
import { assertIsKnown } from '../../storage/ports/format.ts';
import { LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { StartError, withFolder } from '../service/start-error.ts';

const FORMAT_FILE = 'format';

/** @throws StartError for a folder of a format that this version does not know */
export function checkFolderFormat(folder: string): void {
  const format = readFolderFormat(folder);
  if (format === null) return;
  withFolder(folder, () => assertIsKnown('data folder', format));
}

/** Null if the folder states no format. */
export function readFolderFormat(folder: string): number | null {
  let text: string;
  try {
    text = readFileSync(join(folder, FORMAT_FILE), 'utf8').trim();
  } catch {
    // A missing file states no format. Other faults of the folder are reported when its other files are read.
    return null;
  }
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new StartError(`${join(folder, FORMAT_FILE)} does not hold the number of a format: put a copy back.`);
}

/** Writes the format of this version, unless the folder states it already. */
export function keepFolderFormat(folder: string): void {
  if (readFolderFormat(folder) === LEDGER_FORMAT) return;
  withFolder(folder, () => putFileSync(join(folder, FORMAT_FILE), `${LEDGER_FORMAT}\n`));
}
