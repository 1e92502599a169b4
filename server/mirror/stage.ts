/**
 * The answers that a round has read, with the header fields that the copy would send, each body once. Nothing is served from
 * here before it is put. The checks of `verify` read from the stage, so they judge the future copy.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  PUBLIC_OBJECTS,
  type PublicObjectName,
  publicKey,
  storedHeaders,
} from '../../contract/files/public-objects.ts';
import { ndjsonPath } from '../../contract/log/tiles.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import { takenDownAnswer } from '../../publisher/core/log/log-tiles.ts';
import type { PublicReader, PublicResponse } from '../../publisher/verify/reading/reader.ts';
import { bodyDigest, etagOfDigest } from '../../storage/ports/object-rules.ts';
import { type MirrorCopy, nameOfUrl, tileOf } from './copy.ts';

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
  readonly signal: AbortSignal | undefined;
  readonly copy: MirrorCopy;
  /** The folder for bodies that are not put yet. */
  readonly folder: string;
  /** Receives the key of each body that was found. */
  readonly reached: Set<string>;
}

export class Stage {
  /** By market ('' for all other files), then by key in reading order. */
  readonly #groups = new Map<string, Map<string, Promise<Staged>>>();
  readonly #settings: StageSettings;
  #isClosed = false;
  readonly #writes = new Set<Promise<void>>();
  #bytes = 0;
  #files: string | null = null;
  #written = 0;

  constructor(settings: StageSettings) {
    this.#settings = settings;
  }

  /** Reads files of all markets from the service. Files of one market come from the copy, which has only proven ones. */
  readonly reader: PublicReader = async (url) => {
    const name = mirroredName(url);
    if (name === null) return NOT_FOUND;
    return 'slug' in name ? await this.#fromCopy(url, name) : await this.#fromService(url, name);
  };

  /** Reads the files of one market, and finds no other files. */
  marketReader(from: 'copy' | 'service'): PublicReader {
    return async (url) => {
      const name = mirroredName(url);
      if (name === null || !('slug' in name)) return NOT_FOUND;
      return from === 'copy' ? await this.#fromCopy(url, name) : await this.#fromService(url, name);
    };
  }

  async #fromCopy(url: string, name: PublicObjectName): Promise<PublicResponse> {
    this.#settings.signal?.throwIfAborted();
    return this.#reach(name, await this.#settings.copy.reader(url));
  }

  async #fromService(url: string, name: PublicObjectName): Promise<PublicResponse> {
    const copied = isImmutable(name) ? await this.#fromCopy(url, name) : NOT_FOUND;
    if (copied.status !== 404) return copied;
    this.#settings.signal?.throwIfAborted();
    const [owner, key] = [ownerOf(name), publicKey(name)];
    const group = this.#groups.get(owner) ?? new Map<string, Promise<Staged>>();
    this.#groups.set(owner, group);
    const read = group.get(key) ?? this.#ask(url, name);
    group.set(key, read);
    read.catch(() => group.delete(key));
    return this.#reach(name, await this.#answerOf(url, await read));
  }

  #reach(name: PublicObjectName, answer: PublicResponse): PublicResponse {
    if (answer.status === 200 || answer.status === 410) this.#settings.reached.add(publicKey(name));
    return answer;
  }

  /** The entity tag and the status that were read at a URL, to compare two passes. */
  async seenAt(url: string): Promise<string> {
    const name = nameOfUrl(url);
    const read = name === null ? undefined : await this.#groups.get(ownerOf(name))?.get(publicKey(name));
    return `${read?.status} ${read?.etag}`;
  }

  /**
   * Puts bodies of a market, or those without a market, in the reverse order of reading: bodies that were read first link to
   * those that were read later.
   */
  async put(isWanted: (name: PublicObjectName) => boolean, slug = ''): Promise<void> {
    const group = this.#groups.get(slug) ?? new Map<string, Promise<Staged>>();
    for (const [key, read] of [...group].reverse()) {
      const staged = await read;
      if (this.#isClosed) throw new Error('the round has ended');
      const { name, status, body: path } = staged;
      if (path === null || !isWanted(name)) continue;
      await this.#settings.copy.put(name, await readFile(path), status === 410);
      this.#drop(staged);
      group.set(key, Promise.resolve({ ...staged, body: null }));
    }
    if (slug !== '') this.#groups.delete(slug);
  }

  /** Forgets bodies that were read and not put: they may have changed meanwhile, and are not proven. */
  async forget(): Promise<void> {
    for (const group of this.#groups.values()) {
      // After a failure, other reads of the same walk may still be running. Their readers get the error.
      for (const read of group.values())
        await read.then(
          (staged) => this.#drop(staged),
          () => {},
        );
    }
    this.#groups.clear();
  }

  /** Aborted walks may still be reading or writing a file. From now on they put nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#writes);
    if (this.#files !== null) rmSync(this.#files, { recursive: true, force: true });
  }

  async #ask(url: string, name: PublicObjectName): Promise<Staged> {
    const { upstream, copy } = this.#settings;
    const copied = await copy.objects.stat(publicKey(name));
    const answer = await upstream(url, copied === null ? {} : { 'if-none-match': copied.etag as string });
    const ofCopy = { name, etag: copied?.etag ?? '', bytes: 0, body: null };
    if (answer.status === 304 && copied !== null)
      return { ...ofCopy, status: statusOfObject(copied.metadata.contentType) };
    const status = statusFor(name, answer.status);
    if (status !== 200 && status !== 410) return { ...ofCopy, status, etag: '' };
    // The service's answer for a removed bundle is not signed, so the mirror makes its own.
    const tile = status === 410 ? tileOf(name) : null;
    const body = tile === null ? answer.body : takenDownAnswer(ndjsonPath(tile.n, tile.width));
    const etag = etagOfDigest(bodyDigest(body)) as string;
    if (copied?.etag === etag && copied.metadata.contentType === storedHeaders(name, status === 410).contentType)
      return { ...ofCopy, status };
    return { name, status, etag, bytes: body.byteLength, body: await this.#keep(body) };
  }

  async #keep(body: Uint8Array): Promise<string> {
    const { copy, folder } = this.#settings;
    this.#bytes += body.byteLength;
    copy.assertSpace(this.#bytes);
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
}

const NO_BODY = new Uint8Array();
const NOT_FOUND: PublicResponse = { status: 404, headers: new Map(), body: NO_BODY };

/** The name of the file at this URL. Null: a mirror copies no such file. It serves the pages of its own version. */
function mirroredName(url: string): PublicObjectName | null {
  const name = nameOfUrl(url);
  return name?.kind.startsWith('site-') ? null : name;
}

/** A file that cannot be gone is missing. */
const statusFor = ({ kind }: PublicObjectName, status: number): number =>
  status === 410 && !PUBLIC_OBJECTS[kind].mayBeGone ? 404 : status;

const ownerOf = (name: PublicObjectName): string => ('slug' in name ? name.slug : '');

/** Whether its name has a digest of its bytes, or its place in a verified log. Then the stored body is valid. */
function isImmutable(name: PublicObjectName): boolean {
  return 'cursor' in name || 'tile' in name || (PUBLIC_OBJECTS[name.kind].retention === 'export' && 'file' in name);
}

/** The answer of the service, with the header fields of the copy. Nothing is kept. */
export function normalised(upstream: PublicReader): PublicReader {
  return async (url) => {
    const name = nameOfUrl(url);
    if (name === null) return NOT_FOUND;
    const { status, body } = await upstream(url);
    return answerWith(name, statusFor(name, status), body);
  };
}

function answerWith(name: PublicObjectName, status: number, body: Uint8Array): PublicResponse {
  const { contentType, cacheControl } = storedHeaders(name, status === 410);
  const etag = etagOfDigest(bodyDigest(body)) as string;
  const fields = { 'content-type': contentType, 'cache-control': cacheControl, etag };
  return { status, headers: new Map(Object.entries(fields)), body };
}
