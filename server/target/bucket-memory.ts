/** The facts that a data folder remembers about its bucket, in a file beside its index. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { putFileSync } from '../../storage/directory/durable-files.ts';
import { ignoreMissing, STORE_FOLDER } from '../../storage/directory/object-places.ts';
import type { BucketPlace } from '../../storage/s3/bucket-target.ts';
import type { Conditions } from '../../storage/s3/s3-objects.ts';
import { StartError } from '../service/start-error.ts';

export interface BucketMemory extends BucketPlace {
  /** The owner name in the lease: the same for each process of this data folder. */
  readonly owner: string;
  /** Null: not probed yet. */
  readonly conditions: Conditions | null;
}

export const nameOfBucket = ({ bucket, prefix }: BucketPlace): string => `s3://${bucket}/${prefix}`.replace(/\/$/, '');

const FILE = 'bucket.json';

const pathIn = (dataFolder: string) => join(dataFolder, STORE_FOLDER, FILE);

/** Null: the public files are in a folder. @throws StartError for a damaged file */
export function readBucketMemory(dataFolder: string): BucketMemory | null {
  const path = pathIn(dataFolder);
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as BucketMemory;
  } catch (cause) {
    if (cause instanceof SyntaxError) {
      throw new StartError(`${path} is damaged: delete it, and name the bucket by --to again.`, { cause });
    }
    return ignoreMissing(cause) ?? null;
  }
}

export function rememberBucket(dataFolder: string, memory: BucketMemory): void {
  putFileSync(pathIn(dataFolder), `${JSON.stringify(memory, null, 2)}\n`);
}

export function forgetBucket(dataFolder: string): void {
  rmSync(pathIn(dataFolder), { force: true });
}
