/** Builds faulty-disk.c, and switches its faults on and off while a service runs on it. */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NotPossible } from './trial.ts';

const run = promisify(execFile);
/** Of Linux: errno(3). */
const EROFS = 30;
const SOURCE = join(import.meta.dirname, 'faulty-disk.c');
/** The order of the numbers in the shared file. */
const FIELDS = ['refuse', 'delayMs', 'hang', 'hanging', 'refused', 'delayed'] as const;
type Field = (typeof FIELDS)[number];

export interface FaultyDisk {
  /** For a service whose data folder is on this disk. */
  readonly environment: Readonly<Record<string, string>>;
  /** Every change fails as on a disk that has become read-only (EROFS), or no longer does. */
  refuseChanges(isOn: boolean): void;
  /** Every operation takes this much longer. */
  delay(ms: number): void;
  /** Every change waits until this is called with false. */
  hang(isOn: boolean): void;
  /** How many changes wait now, were refused, and how many operations were delayed. */
  counted(what: 'hanging' | 'refused' | 'delayed'): number;
  close(): void;
}

/** @throws NotPossible without a compiler of C, or where programs cannot be given another libc function */
export async function buildFaultyDisk(folder: string, dataFolder: string): Promise<FaultyDisk> {
  if (process.platform !== 'linux') throw new NotPossible('LD_PRELOAD needs Linux');
  const library = join(folder, 'faulty-disk.so');
  try {
    await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl']);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new NotPossible('no compiler of C (cc) on this machine');
  }
  const path = join(folder, 'faults');
  writeFileSync(path, Buffer.alloc(4 * FIELDS.length));
  const file = openSync(path, 'r+');
  const put = (field: Field, value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32LE(value);
    writeSync(file, bytes, 0, 4, 4 * FIELDS.indexOf(field));
  };
  return {
    environment: { LD_PRELOAD: library, TORTURE_FAULTS: path, TORTURE_FOLDER: dataFolder },
    refuseChanges: (isOn) => put('refuse', isOn ? EROFS : 0),
    delay: (ms) => put('delayMs', ms),
    hang: (isOn) => put('hang', isOn ? 1 : 0),
    counted(what) {
      const bytes = Buffer.alloc(4);
      readSync(file, bytes, 0, 4, 4 * FIELDS.indexOf(what));
      return bytes.readInt32LE();
    },
    close: () => closeSync(file),
  };
}
