/** A host with the right log in front of a real service, which changes other answers; and a mirror of it. */
import { createServer } from 'node:http';
import type { PageSizes } from '../../../publisher/dependencies.ts';
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

export interface Forger {
  readonly read: PublicReader;
  /** Paths that were asked for. */
  readonly asked: string[];
  forge: Forge;
}

/** Gives `read` with every text as it is forged. Binary bodies stay. */
export function forgerOf(read: PublicReader): Forger {
  const textOf = async (url: string) => Buffer.from((await read(url)).body).toString('utf8');
  const forger: Forger = {
    asked: [],
    forge: HONEST,
    async read(url, asked = {}) {
      forger.asked.push(url);
      const { status, headers: fields, body } = await read(url);
      const isText = !/\.gz$|\/tile\/|\.parquet$/.test(url);
      const text = Buffer.from(body).toString('utf8');
      const forged = isText ? await forger.forge(url, text, textOf) : null;
      const isChanged = isText && forged !== text;
      const bytes = isChanged ? Buffer.from(forged ?? '') : Buffer.from(body);
      const etag = isChanged ? `"forged-${bytes.length}"` : (fields.get('etag') ?? '');
      const known = status === 200 && asked['if-none-match'] === etag;
      const headers = [...fields].filter(([name]) => !OF_CONNECTION.includes(name));
      return {
        status: known ? 304 : isChanged ? (forged === null ? 404 : 200) : status,
        headers: new Map([...headers, ...(etag ? [['etag', etag] as const] : [])]),
        body: known ? new Uint8Array() : bytes,
      };
    },
  };
  return forger;
}

/** The same over HTTP. */
export async function hostileOrigin(read: PublicReader): Promise<Forger & { readonly url: URL }> {
  const forger = forgerOf(read);
  const server = createServer(async ({ url = '', headers }, response) => {
    const { status, headers: fields, body } = await forger.read(url, headers as Readonly<Record<string, string>>);
    response.writeHead(status, Object.fromEntries(fields)).end(body);
  });
  return Object.assign(forger, { url: new URL(await listeningForTest(server)) });
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
  { read }: Pick<Forger, 'read'>,
  clock: { nowMs: number },
  options: {
    readonly objects?: ObjectStore;
    readonly pageSizes?: PageSizes;
  } = {},
): Promise<Follower> {
  const folder = await folderWith(options.objects ?? openMemoryObjects());
  const mirror = await mirrorIn(
    folder,
    { clock, objects: folder.objects as World['objects'] },
    {
      upstream: read,
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
