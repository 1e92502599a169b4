/**
 * The file with the state: an archive (tar), compressed (zstd), encrypted and authenticated (age). It is streamed, so that
 * memory is bounded. To open it without Tidemark: `age -d -i state-key .state.tar.zst.age | zstd -d | tar -x`.
 */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { packTar, type TarSource, unpackTar } from 'modern-tar/fs';
import { StartError } from '../service/start-error.ts';
import type { StateStore, StoredState } from '../target/state-store.ts';
import type { StateKey } from './state-key.ts';

const OWNER_ONLY = { fmode: 0o600, dmode: 0o700 };

/** Writes the file at `path`, durably. */
export async function sealState(sources: readonly TarSource[], path: string, { recipient }: StateKey): Promise<void> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  await pipeline(
    packTar(sources),
    createZstdCompress(),
    async function* (plain: AsyncIterable<Uint8Array>) {
      yield* Readable.fromWeb(await encrypter.encrypt(Readable.toWeb(Readable.from(plain))));
    },
    createWriteStream(path, { mode: 0o600, flush: true }),
  );
}

/**
 * Extracts the files into a folder.
 *
 * @throws StartError if any byte was changed, or if the file was made for another key
 */
export async function unsealState(
  state: StoredState,
  folder: string,
  { place }: StateStore,
  key: StateKey,
): Promise<void> {
  const decrypter = new Decrypter();
  for (const identity of key.identities) decrypter.addIdentity(identity);
  try {
    await pipeline(
      async function* () {
        yield* Readable.fromWeb(await decrypter.decrypt(Readable.toWeb(Readable.from(state.read()))));
      },
      createZstdDecompress(),
      unpackTar(folder, OWNER_ONLY),
    );
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).syscall !== undefined) throw cause;
    throw new StartError(
      `${place} cannot be opened with the key of ${key.place}: it is damaged, or of another key. Set the right key, or put an earlier copy of the file back. To continue without it, delete it and use --from-log. Nothing was changed.`,
      { cause },
    );
  }
}
