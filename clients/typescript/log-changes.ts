/** Follows the log: every change of a service, in one order, by the number of entries that were read (docs/following.md). */
import { ndjsonPath, TILE_WIDTH } from '../../contract/log/tiles.ts';
import { unzipped } from './signed-log.ts';
import { TidemarkError } from './tidemark-error.ts';

export interface LogChange {
  /** The place of the entry in the log, from 0. Continue with `since: index + 1`. */
  readonly index: number;
  /** The entry, as docs/log.md describes it. Null: it was taken down; a later `takedown` entry states that. */
  readonly entry: Readonly<Record<string, unknown>> | null;
}

/** Reads files below the root of the log. */
export interface LogLines {
  readonly checkpoint: () => Promise<string>;
  readonly bytes: (path: string) => Promise<Uint8Array<ArrayBuffer>>;
}

/** The formats of entries that this version knows. */
const FORMATS: readonly unknown[] = [1, 2];
/** How often a file may be missing because the log has grown, without any entry being read in between. */
const MISSING_MAX = 3;

/** The number of entries. @throws TidemarkError */
export async function logSize({ checkpoint }: LogLines): Promise<number> {
  const [, size = ''] = (await checkpoint()).split('\n');
  if (/^(0|[1-9]\d{0,14})$/.test(size)) return Number(size);
  throw new TidemarkError('unexpected-answer', { status: 200, detail: 'the checkpoint of the log names no size' });
}

/** The entries from `since` to the current end of the log. @throws TidemarkError */
export async function* readChanges(files: LogLines, since: number, sizeNow: number): AsyncGenerator<LogChange> {
  let [next, missing, size] = [since, 0, sizeNow];
  while (next < size) {
    const n = Math.floor(next / TILE_WIDTH);
    const width = Math.min(TILE_WIDTH, size - n * TILE_WIDTH);
    const lines = await linesOf(files, n, width);
    if (lines === null) {
      // A partial file is removed a day after a later checkpoint. So a cache has returned an old checkpoint, or the reader was
      // slow.
      if (missing++ === MISSING_MAX) throw gone(n);
      size = await logSize(files);
      continue;
    }
    missing = 0;
    for (; next < n * TILE_WIDTH + width; next++) yield { index: next, entry: entryOf(lines[next % TILE_WIDTH], next) };
  }
}

async function linesOf(files: LogLines, n: number, width: number): Promise<readonly string[] | null> {
  try {
    const lines = (await unzipped(await files.bytes(ndjsonPath(n, width)))).split('\n');
    if (lines.length > width) return lines;
  } catch (cause) {
    if (cause instanceof TidemarkError && cause.status === 404) return null;
    if (cause instanceof TidemarkError) throw cause;
    throw new TidemarkError('unexpected-answer', { status: 200, detail: `file ${n} of the log cannot be read`, cause });
  }
  throw new TidemarkError('unexpected-answer', { status: 200, detail: `file ${n} of the log is too short` });
}

function entryOf(line: string | undefined, index: number): LogChange['entry'] {
  let entry: unknown;
  try {
    entry = JSON.parse(line ?? '');
  } catch (cause) {
    const detail = `entry ${index} of the log is not JSON`;
    throw new TidemarkError('unexpected-answer', { status: 200, detail, cause });
  }
  const { format, takenDown } = entry as { readonly format?: unknown; readonly takenDown?: unknown };
  if (typeof takenDown === 'string') return null;
  if (FORMATS.includes(format)) return entry as LogChange['entry'];
  const detail = `entry ${index} of the log has the format ${format}, and this version knows ${FORMATS.join(' and ')}: get a newer one`;
  throw new TidemarkError('newer-format', { detail });
}

function gone(n: number): TidemarkError {
  const detail = `file ${n} of the log is not there, although the checkpoint names it. Ask again in a minute`;
  return new TidemarkError('unexpected-answer', { status: 404, detail });
}
