/**
 * A signed note on all public files in a folder, as a run with `--from-log` has left them. The next run without a ledger
 * compares one digest. So it need not render every market to see that the files are those of the log.
 *
 * Safety: only a holder of the log's key can sign the note, and it is written when everything is published. If a file was
 * changed, added or removed since, the note does not match, and everything is compared with the log. An old note matches only
 * the old files with their old log.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { type NoteSigner, openNote, signNote, verifierKey } from '../../contract/log/notes.ts';
import { rendererOf } from '../../publisher/core/bodies/render.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { StorageCorrupt } from '../../storage/ports/errors.ts';
import type { ObjectHead, ObjectStore } from '../../storage/ports/object-store.ts';
import { keyPages } from '../../storage/ports/objects.ts';
import { writeDurably } from '../backup/copied-files.ts';
import type { PublicTarget } from '../target/target.ts';

/** No public object has this name, and tools for static hosts leave names with a dot out. */
const NAME = '.tidemark-files';

type Rendered = Pick<PublisherDependencies, 'objects' | 'pageSizes' | 'projections' | 'readBaseUrl' | 'site'>;

/** The text of the folder's note. Null: no note is signed by one of the keys. A bucket has no note. */
export async function readNote(target: PublicTarget, keys: readonly NoteSigner[]): Promise<string | null> {
  const note = target.isRemote ? null : await target.read(NAME);
  if (note === null) return null;
  try {
    const { text } = openNote(
      Buffer.from(note).toString('utf8'),
      keys.map(({ vkey }) => verifierKey(vkey)),
    );
    return text;
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}

/**
 * Whether the folder has the files of its note, and this version renders the same.
 *
 * @param noted the result of {@link readNote}
 * @param isRead whether to read all bytes. What a data folder remembers of a file from an earlier run does not reveal a change
 *   by another program
 */
export async function fitsNote(noted: string | null, rendered: Rendered, isRead: boolean): Promise<boolean> {
  return noted !== null && noted === (await textOf(rendered, isRead ? headOfBytes : headKnown));
}

/**
 * Whether the note says that the files were rendered by another version, or for another address. The checks of `verify` do not
 * reveal it: pages for people, and the addresses in feeds, are not in the log.
 */
export function isRenderedOtherwise(noted: string | null, { objects: _, ...renderer }: Rendered): boolean {
  return noted !== null && noted.split('\n')[1] !== rendererOf(renderer);
}

/** Call it when everything is published, and nothing more will be written. Writes nothing into a bucket. */
export async function leaveNote(target: PublicTarget, rendered: Rendered, keys: readonly NoteSigner[]): Promise<void> {
  if (target.isRemote || (await fitsNote(await readNote(target, keys), rendered, false))) return;
  await writeDurably(join(target.name, NAME), await signNote(await textOf(rendered, headKnown), keys));
}

type HeadOf = (rendered: Rendered, key: string) => Promise<Pick<ObjectHead, 'etag' | 'metadata'> | null>;

const headKnown: HeadOf = async ({ objects }, key) => await objects.stat(key);

const headOfBytes: HeadOf = async ({ objects }, key) => {
  const object = await objects.get(key).catch(nullIfCorrupt);
  return object?.kind === 'found' ? object : null;
};

function nullIfCorrupt(error: unknown): null {
  if (error instanceof StorageCorrupt) return null;
  throw error;
}

/** The first line cannot be the name of a log, so nobody can use the note as a checkpoint. */
async function textOf(rendered: Rendered, headOf: HeadOf): Promise<string> {
  const { objects, ...renderer } = rendered;
  return `tidemark public files\n${rendererOf(renderer)}\n${await digestOf(objects, (key) => headOf(rendered, key))}\n`;
}

/** The digest of the path and the SHA-256 of every file. */
async function digestOf(objects: ObjectStore, headOf: (key: string) => ReturnType<HeadOf>): Promise<string> {
  const digest = createHash('sha256');
  for await (const keys of keyPages(objects, `${PUBLIC_PREFIX}/`)) {
    for (const key of keys) {
      const head = await headOf(key);
      digest.update(`${key} ${head?.metadata.contentType} ${head?.etag}\n`);
    }
  }
  return digest.digest('base64');
}
