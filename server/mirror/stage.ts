/**
 * The answers that a round has read, with the header fields that the copy would send, each body once. Nothing is served from
 * here before it is put. The checks of `verify` read from the stage, so they judge the future copy.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PublicObjectKind, PublicObjectName } from '../../contract/files/public-object-names.ts';
import {
  cacheControlOf,
  LOG_ROOT,
  PUBLIC_OBJECTS,
  publicKey,
  publicPath,
} from '../../contract/files/public-objects.ts';
import { ndjsonPath, parseTilePath } from '../../contract/log/tiles.ts';
import { PROBLEM_CONTENT_TYPE, statusOfObject } from '../../contract/problems/edge-problems.ts';
import { takenDownAnswer } from '../../publisher/core/log/log-tiles.ts';
import { PROJECTORS } from '../../publisher/projections.ts';
import type { PublicReader, PublicResponse } from '../../publisher/verify/reading/reader.ts';
import { bodyDigest, etagOfDigest } from '../../storage/ports/object-rules.ts';
import { type MirrorCopy, MirrorFull, nameOfUrl } from './copy.ts';

/** The prefix of the folders of rounds. When the mirror opens, it removes the folders that killed rounds left. */
export const STAGED_PREFIX = 'staged-';

interface Staged {
  readonly name: PublicObjectName;
  readonly status: number;
  readonly etag: string;
  readonly bytes: number;
  /** The path of a file with the body. Null: the copy has the body, or the answer has none. */
  readonly body: string | null;
}

export interface StageSettings {
  readonly upstream: PublicReader;
  readonly copy: MirrorCopy;
  /** The folder for bodies that are not put yet. */
  readonly folder: string;
  /** Whether the copy is proven to have the newest bodies of this market. Then the service is not asked. */
  readonly isKept: (slug: string) => boolean;
  /** Receives the key of each body that was found. */
  readonly reached: Set<string>;
  /** Aborts the walks that read, including those that read only the copy. */
  readonly signal: AbortSignal | undefined;
}

export class Stage {
  /** By market ('' for all other files), then by key in reading order. */
  readonly #groups = new Map<string, Map<string, Promise<Staged>>>();
  readonly #settings: StageSettings;
  /** The keys of the bodies that were found. */
  readonly reached: ReadonlySet<string>;
  readonly #copyOnly = new Set<string>();
  #isClosed = false;
  /** The running writes. */
  readonly #writes = new Set<Promise<void>>();
  #bytes = 0;
  #files: string | null = null;
  #written = 0;

  constructor(settings: StageSettings) {
    this.#settings = settings;
    this.reached = settings.reached;
  }

  readonly reader: PublicReader = async (url) => {
    this.#settings.signal?.throwIfAborted();
    const name = nameOfUrl(url);
    // The mirror serves the pages of its own version, not those of the service.
    if (name === null || name.kind.startsWith('site-')) return NOT_FOUND;
    const key = publicKey(name);
    const isSure = this.#isSure(name);
    if (isSure || isImmutable(name)) {
      const answer = await this.#settings.copy.reader(url);
      if (isSure || answer.status !== 404) return this.#reach(key, answer);
    }
    const group = this.#groupOf(name);
    let read = group.get(key);
    if (read === undefined) {
      read = this.#ask(url, name);
      group.set(key, read);
      read.catch(() => group.delete(key));
    }
    return this.#reach(key, await this.#answerOf(url, await read));
  };

  /** Reads from the service without remembering the answer or asking the copy. The answer is as the copy would serve it. */
  readonly direct: PublicReader = async (url) => {
    const name = nameOfUrl(url);
    if (name === null) return NOT_FOUND;
    const { status, body } = await this.#settings.upstream(url);
    return answerWith(name, status, body);
  };

  /** @param isCopyOnly whether this market is read from the copy alone from now on, or as all others */
  readFromCopy(slug: string, isCopyOnly: boolean): void {
    if (isCopyOnly) this.#copyOnly.add(slug);
    else this.#copyOnly.delete(slug);
  }

  /** The entity tag and the status that were read at a URL, to compare two passes. */
  async seenAt(url: string): Promise<string> {
    const name = nameOfUrl(url);
    const read = name === null ? undefined : await this.#groupOf(name).get(publicKey(name));
    return `${read?.status} ${read?.etag}`;
  }

  /** Whether the copy has the body that was read at a URL. */
  async isCopied(url: string): Promise<boolean> {
    const name = nameOfUrl(url);
    const read = name === null ? undefined : await this.#groupOf(name).get(publicKey(name));
    return read !== undefined && read.body === null && read.status === 200;
  }

  /** Puts the bodies of a market, without daily files. */
  async putMarket(slug: string, generation: number): Promise<void> {
    await this.#putGroup(this.#groups.get(slug), () => true, generation);
    this.#groups.delete(slug);
  }

  /** Puts the other bodies: those without a market, and daily files. Returns the number of bodies. */
  async put(isWanted: (name: PublicObjectName) => boolean, generation: number): Promise<number> {
    return await this.#putGroup(this.#groups.get(''), isWanted, generation);
  }

  /** Puts bodies in the reverse order of reading: bodies that were read first link to those that were read later. */
  async #putGroup(
    group: Map<string, Promise<Staged>> | undefined,
    isWanted: (name: PublicObjectName) => boolean,
    generation: number,
  ): Promise<number> {
    let count = 0;
    for (const [key, read] of [...(group ?? [])].reverse()) {
      const staged = await read;
      if (this.#isClosed) throw new Error('the round has ended');
      if (staged.body === null || !isWanted(staged.name)) continue;
      const body = await readFile(staged.body);
      const isGone = staged.status === 410;
      await this.#settings.copy.put(staged.name, {
        body,
        generation,
        isGone,
        nextCursor: nextCursorOf(staged.name, body),
      });
      this.#drop(staged);
      group?.set(key, Promise.resolve({ ...staged, body: null }));
      count++;
    }
    return count;
  }

  /** Forgets bodies that were read and not put: they may have changed meanwhile, and are not proven. */
  async forget(isUnwanted: (name: PublicObjectName) => boolean = () => true): Promise<void> {
    for (const group of this.#groups.values()) {
      for (const [key, read] of [...group]) {
        const staged = await read;
        if (!isUnwanted(staged.name)) continue;
        this.#drop(staged);
        group.delete(key);
      }
    }
  }

  /** Aborted walks may still be reading or writing a file. From now on they put nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#writes);
    if (this.#files !== null) rmSync(this.#files, { recursive: true, force: true });
  }

  #groupOf(name: PublicObjectName): Map<string, Promise<Staged>> {
    const owner = 'slug' in name ? name.slug : '';
    let group = this.#groups.get(owner);
    if (group === undefined) {
      group = new Map();
      this.#groups.set(owner, group);
    }
    return group;
  }

  #isSure(name: PublicObjectName): boolean {
    if (!('slug' in name)) return false;
    return this.#copyOnly.has(name.slug) || this.#settings.isKept(name.slug);
  }

  async #ask(url: string, name: PublicObjectName): Promise<Staged> {
    const { upstream, copy } = this.#settings;
    const copied = await copy.head(name);
    const answer = await upstream(url, copied === null ? {} : { 'if-none-match': copied.etag as string });
    if (answer.status === 304 && copied !== null) {
      const status = statusOfObject(copied.metadata.contentType);
      return { name, status, etag: copied.etag as string, bytes: 0, body: null };
    }
    const { status } = answer;
    if (!(status === 200 || (status === 410 && PUBLIC_OBJECTS[name.kind].mayBeGone)))
      return { name, status: status === 410 ? 404 : status, etag: '', bytes: 0, body: null };
    // The service's answer for a removed bundle is not signed, so the mirror makes its own.
    const body = 'tile' in name && status === 410 ? goneBundle(name) : answer.body;
    const etag = etagOfDigest(bodyDigest(body)) as string;
    if (copied?.etag === etag && copied.metadata.contentType === contentTypeOf(name, status))
      return { name, status, etag, bytes: 0, body: null };
    return { name, status, etag, bytes: body.byteLength, body: await this.#keep(body) };
  }

  async #keep(body: Uint8Array): Promise<string> {
    const { copy, folder } = this.#settings;
    this.#bytes += body.byteLength;
    if (copy.usedBytes + this.#bytes > copy.maxBytes)
      throw new MirrorFull(`the copy would be larger than ${copy.maxBytes} bytes: give it more with --max-bytes`);
    if (this.#isClosed) throw new Error('the round has ended');
    this.#files ??= mkdtempSync(join(folder, STAGED_PREFIX));
    const path = join(this.#files, `${this.#written++}`);
    const write = writeFile(path, body);
    this.#writes.add(write);
    await write.finally(() => this.#writes.delete(write));
    return path;
  }

  #drop({ bytes, body }: Staged): void {
    if (body === null) return;
    this.#bytes -= bytes;
    rmSync(body, { force: true });
  }

  async #answerOf(url: string, { name, status, body }: Staged): Promise<PublicResponse> {
    if (body !== null) return answerWith(name, status, await readFile(body));
    const isCopied = status === 200 || status === 410;
    return isCopied ? await this.#settings.copy.reader(url) : answerWith(name, status, NO_BODY);
  }

  #reach(key: string, answer: PublicResponse): PublicResponse {
    if (answer.status === 200 || answer.status === 410) this.#settings.reached.add(key);
    return answer;
  }
}

const NO_BODY = new Uint8Array();
const NOT_FOUND: PublicResponse = { status: 404, headers: new Map(), body: NO_BODY };

const DAILY: ReadonlySet<PublicObjectKind> = new Set(
  PROJECTORS.filter(({ daily }) => daily !== undefined).flatMap(({ kinds }) => kinds),
);

/** Whether a daily job makes it. */
export const isDaily = ({ kind }: PublicObjectName): boolean => DAILY.has(kind);

const PAGED: ReadonlySet<PublicObjectKind> = new Set(['market-list', 'market-list-page', 'history', 'history-page']);

function goneBundle(name: PublicObjectName): Uint8Array {
  const tile = parseTilePath(publicPath(name).slice(LOG_ROOT.length + 1));
  return tile === null ? NO_BODY : takenDownAnswer(ndjsonPath(tile.n, tile.width));
}

/** Whether its name has a digest of its bytes, or its place in a verified log. Then the stored body is valid. */
function isImmutable(name: PublicObjectName): boolean {
  return 'cursor' in name || 'tile' in name || (PUBLIC_OBJECTS[name.kind].retention === 'export' && 'file' in name);
}

function contentTypeOf({ kind }: PublicObjectName, status: number): string {
  return status === 410 ? PROBLEM_CONTENT_TYPE : PUBLIC_OBJECTS[kind].contentType;
}

function answerWith(name: PublicObjectName, status: number, body: Uint8Array): PublicResponse {
  const fields = {
    'content-type': contentTypeOf(name, status),
    'cache-control': cacheControlOf(name),
    etag: etagOfDigest(bodyDigest(body)) as string,
  };
  return { status, headers: new Map(Object.entries(fields)), body };
}

/** Null: the body is not a page, or is the last one. */
function nextCursorOf({ kind }: PublicObjectName, body: Uint8Array): string | null {
  if (!PAGED.has(kind)) return null;
  const text = Buffer.from(body.subarray(-400)).toString('utf8');
  return /"page":\{[^{}]*"nextCursor":"([^"]+)"/.exec(text)?.[1] ?? null;
}
