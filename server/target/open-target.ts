/** Opens a target of any kind. A new kind needs a file beside this one, and a line here. */
import { DirectoryReader } from '../../storage/directory/directory-reader.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { forgetBucket, readBucketMemory } from './bucket-memory.ts';
import { bucketReader, bucketTarget, isBucket } from './bucket-target.ts';
import { folderTarget } from './folder-target.ts';
import type { PublicTarget } from './target.ts';

/**
 * @param named a folder, or `s3://bucket/prefix`. Null: the data folder's current target
 * @throws StartError for a name that cannot be a target
 */
export async function openTarget(dataFolder: string, named: string | null): Promise<PublicTarget> {
  const memory = readBucketMemory(dataFolder);
  if (named === null ? memory !== null : isBucket(named)) return await bucketTarget(dataFolder, named);
  const folder = folderTarget(dataFolder, named);
  if (memory === null) return folder;
  return {
    ...folder,
    async open() {
      const objects = await folder.open();
      forgetBucket(dataFolder);
      return objects;
    },
  };
}

/** The public objects for readers, in a process beside the owner of the data folder. Changes nothing. */
export async function openPublicReader(dataFolder: string): Promise<Pick<ObjectStore, 'get'>> {
  const memory = readBucketMemory(dataFolder);
  return memory === null ? new DirectoryReader(dataFolder, null, { rejectsLost: true }) : await bucketReader(memory);
}
