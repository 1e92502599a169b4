/** What a data folder has published. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SNAPSHOT = '/api/v1/snapshot.json';

/** Every public file by its path, with the snapshot as far as it does not depend on the generation. */
export async function publicFiles(dataFolder: string): Promise<ReadonlyMap<string, string>> {
  const root = join(dataFolder, 'public');
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (path: string) => [path.slice(root.length), await readFile(path, 'latin1')] as const;
  const files = new Map(await Promise.all(paths.map(read)));
  const { generation, listGeneration, publishedAt, ...snapshot } = JSON.parse(files.get(SNAPSHOT) ?? '');
  return files.set(SNAPSHOT, JSON.stringify(snapshot));
}
