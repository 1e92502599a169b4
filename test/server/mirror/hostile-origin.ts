/** A host with the right log in front of a real service, which changes other answers; and a mirror of it, over HTTP. */
import { createServer } from 'node:http';
import type { PageSizes } from '../../../publisher/dependencies.ts';
import { boundedReader } from '../../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import type { Mirror } from '../../../server/mirror/mirror.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { listeningForTest } from '../../listening.ts';
import { readerOf, type World } from '../../publisher/world.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';
import { folderWith, mirrorIn } from './mirrored-world.ts';

/** The answer in the place of the true one; `read` gives others. Null: 404. */
export type Forge = (
  url: string,
  text: string,
  read: (url: string) => Promise<string>,
) => Promise<string | null> | string | null;

export const HONEST: Forge = (_, text) => text;

/** They are about the connection to the true service, where bodies are packed. */
const OF_CONNECTION = ['content-encoding', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'];

export interface Origin {
  readonly url: URL;
  /** Paths that were asked for. */
  readonly asked: string[];
  forge: Forge;
}

/** Serves `read` with every text as it is forged. Binary bodies stay. */
export async function hostileOrigin(read: PublicReader): Promise<Origin> {
  const origin = { url: new URL('http://unknown'), asked: [] as string[], forge: HONEST };
  const textOf = async (url: string) => Buffer.from((await read(url)).body).toString('utf8');
  const server = createServer(async ({ url = '', headers }, response) => {
    origin.asked.push(url);
    const { status, headers: fields, body } = await read(url);
    const isText = !/\.gz$|\/tile\/|\.parquet$/.test(url);
    const text = Buffer.from(body).toString('utf8');
    const forged = isText ? await origin.forge(url, text, textOf) : null;
    const isChanged = isText && forged !== text;
    const bytes = isChanged ? Buffer.from(forged ?? '') : Buffer.from(body);
    const etag = isChanged ? `"forged-${bytes.length}"` : (fields.get('etag') ?? '');
    const known = status === 200 && headers['if-none-match'] === etag;
    response.writeHead(known ? 304 : isChanged ? (forged === null ? 404 : 200) : status, {
      ...Object.fromEntries([...fields].filter(([name]) => !OF_CONNECTION.includes(name))),
      ...(etag && { etag }),
    });
    response.end(known ? '' : bytes);
  });
  // On a busy machine, a connection may be idle for longer than by default when it is used again.
  server.keepAliveTimeout = 120_000;
  origin.url = new URL(await listeningForTest(server));
  return origin;
}

export interface Follower {
  readonly mirror: Mirror;
  readonly read: PublicReader;
  /** The state that readers see after a round. */
  round(): Promise<string>;
  /** All texts of the copy. */
  served(): Promise<string>;
}

export async function followerOf(
  { url }: Pick<Origin, 'url'>,
  clock: { nowMs: number },
  options: {
    readonly reader?: PublicReader;
    readonly objects?: ObjectStore;
    readonly pageSizes?: PageSizes;
  } = {},
): Promise<Follower> {
  const folder = await folderWith(options.objects ?? openMemoryObjects(), url);
  const mirror = await mirrorIn(
    folder,
    { clock, objects: folder.objects as World['objects'] },
    {
      upstream: options.reader ?? boundedReader(url),
      pause: async (durationMs) => {
        clock.nowMs += durationMs;
      },
      ...(options.pageSizes && { pageSizes: options.pageSizes }),
    },
  );
  const { objects } = folder;
  return {
    mirror,
    read: readerOf(objects),
    async round() {
      await mirror.follow();
      clock.nowMs += 15_000;
      return mirror.document.state;
    },
    async served() {
      const texts: string[] = [];
      for (let after: string | null = ''; after !== null; ) {
        const page: Awaited<ReturnType<typeof objects.list>> = await objects.list('public/', { after });
        for (const key of page.keys) {
          const found = await objects.get(key);
          if (found.kind === 'found') texts.push(Buffer.from(found.body).toString('utf8'));
        }
        after = page.next;
      }
      return texts.join('\n');
    },
  };
}
