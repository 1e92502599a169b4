/**
 * The object store in a bucket of S3: general purpose, not versioned, encrypted by S3 (SSE-S3), so that the ETag of a body
 * put in one part is its MD5.
 *
 * Safety: S3 evaluates `If-None-Match: *` and `If-Match` together with the write, so of any number of writers one wins. But
 * S3 does not say whether a request whose answer was lost took effect. The SDK sends the request again, and if the first
 * attempt succeeded, the second is refused. So a refusal counts only if every earlier attempt certainly had no effect.
 * Otherwise the object is read. If it has the bytes of the put, it counts as stored; if not, the outcome is unknown, and
 * the put rejects.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  type HeadObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { CACHE_TAG_METADATA } from '../aws/names.ts';
import { concurrencyLimit } from '../concurrency/concurrency-limit.ts';
import { StorageCorrupt, StorageUnavailable } from '../ports/errors.ts';
import {
  checkListPrefix,
  checkObjectBody,
  checkObjectKey,
  LIST_PAGE_SIZE,
  MAX_OBJECT_BYTES,
} from '../ports/object-rules.ts';
import type {
  ETag,
  GetResult,
  KeyPage,
  ObjectHead,
  ObjectMetadata,
  ObjectStore,
  PutCondition,
  PutResult,
  StoredObject,
} from '../ports/object-store.ts';
import { S3_MAX_SOCKETS } from './s3-client.ts';
import { headOrNull, isAbsent, mayHaveHappened, noteTries, readWhole, statusOf } from './s3-outcome.ts';

const GENERATION_METADATA = 'generation';
const NEXT_CURSOR_METADATA = 'next-cursor';

/** The conditions that a store evaluates together with the request. */
export interface Conditions {
  /** `If-None-Match: *` of a put. */
  readonly create: boolean;
  /** `If-Match` of a put. */
  readonly replace: boolean;
  /** `If-Match` of a deletion. */
  readonly remove: boolean;
}

const ALL: Conditions = { create: true, replace: true, remove: true };

export interface S3ObjectsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  /** The beginning of every key: nothing, or a path that ends with `/`. */
  readonly prefix?: string;
  /** Asked before each write. Other conditions are not sent: see `comparedBefore`. Default: all of them, as in S3. */
  readonly conditions?: () => Promise<Conditions>;
  /**
   * For a bucket into which other programs write, perhaps in a store other than S3. An object without our metadata counts
   * as one of generation 0. The encryption is the bucket's own.
   */
  readonly isShared?: boolean;
  /** Maximum number of requests at once. The client must have as many sockets. */
  readonly maxConcurrency?: number;
  readonly maxBodyBytes?: number;
}

/** Opens the store in an existing bucket. Sends no request. */
export function openS3Objects(options: S3ObjectsOptions): ObjectStore {
  return new S3Objects(options);
}

class S3Objects implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #conditions: () => Promise<Conditions>;
  readonly #isShared: boolean;
  readonly #maxBodyBytes: number;
  readonly #inTurn: ReturnType<typeof concurrencyLimit>;
  /** Absent for a shared bucket: under its own encryption, an ETag may be anything. */
  readonly etagOf?: (body: Uint8Array) => ETag;

  constructor({ client, bucket, prefix = '', isShared = false, ...options }: S3ObjectsOptions) {
    const { conditions = async () => ALL, maxConcurrency = S3_MAX_SOCKETS, maxBodyBytes = MAX_OBJECT_BYTES } = options;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#conditions = conditions;
    this.#isShared = isShared;
    this.#maxBodyBytes = maxBodyBytes;
    this.#inTurn = concurrencyLimit(maxConcurrency);
    if (!isShared) this.etagOf = (body) => `"${createHash('md5').update(body).digest('hex')}"` as ETag;
  }

  async get(key: string, options: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    checkObjectKey(key);
    return this.#ask(key, () => this.#read(key, options.ifNoneMatch));
  }

  async stat(key: string): Promise<ObjectHead | null> {
    checkObjectKey(key);
    return this.#ask(key, () => this.#readHead(key));
  }

  async put(key: string, body: Uint8Array, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult> {
    checkObjectKey(key);
    checkObjectBody(key, body);
    if (body.byteLength > this.#maxBodyBytes) {
      throw new RangeError(`the body of ${key} has ${body.byteLength} bytes, more than ${this.#maxBodyBytes}`);
    }
    // Copied before the first await, so that later changes of the caller's buffer are not stored.
    const copy = Buffer.from(body);
    return this.#ask(key, () => this.#write(key, copy, metadata, condition));
  }

  async delete(key: string, etag: ETag): Promise<'deleted' | 'refused'> {
    checkObjectKey(key);
    return this.#ask(key, async () => {
      const { remove } = await this.#conditions();
      const command = new DeleteObjectCommand({ ...this.#at(key), ...(remove && { IfMatch: etag }) });
      noteTries(command);
      try {
        await this.#client.send(command);
        return 'deleted';
      } catch (error) {
        if (isAbsent(error)) return 'deleted';
        if (statusOf(error) !== 412) throw error;
        // S3's documentation does not say whether `If-Match` refuses the deletion of an absent object.
        return (await this.#readHead(key)) === null ? 'deleted' : 'refused';
      }
    });
  }

  async list(prefix: string, options: { readonly after?: string } = {}): Promise<KeyPage> {
    checkListPrefix(prefix);
    const { after = '' } = options;
    return this.#ask(prefix, async () => {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: this.#prefix + prefix,
          MaxKeys: LIST_PAGE_SIZE,
          ...(after !== '' && { StartAfter: this.#prefix + after }),
        }),
      );
      const keys = (page.Contents ?? []).flatMap(({ Key }) => Key?.slice(this.#prefix.length) ?? []);
      const last = keys.at(-1) ?? null;
      if (page.IsTruncated && last === null) throw new StorageUnavailable(`${this.#uri(prefix)} lists an empty page`);
      return { keys, next: page.IsTruncated ? last : null };
    });
  }

  async #write(key: string, body: Buffer, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult> {
    const { create, replace } = await this.#conditions();
    const command = new PutObjectCommand({
      ...this.#at(key),
      Body: body,
      ContentLength: body.byteLength,
      ContentType: metadata.contentType,
      CacheControl: metadata.cacheControl,
      // Explicit, although it is the bucket's default: under another encryption, the ETag would not be the MD5 of the
      // bytes.
      ...(!this.#isShared && { ServerSideEncryption: 'AES256' }),
      Metadata: userMetadata(metadata),
      ...(condition.kind === 'absent' ? create && { IfNoneMatch: '*' } : replace && { IfMatch: condition.etag }),
    });
    const tries = noteTries(command);
    try {
      const { ETag } = await this.#client.send(command);
      return { kind: 'stored', etag: this.#etagOf(key, ETag) };
    } catch (error) {
      const isRefusal = statusOf(error) === 412 || (condition.kind === 'matches' && isAbsent(error));
      if (!isRefusal) throw error;
      if (!tries.some(mayHaveHappened)) return { kind: 'refused' };
      const present = await this.#read(key);
      if (present.kind === 'found' && isSame(present, body, metadata)) return { kind: 'stored', etag: present.etag };
      throw new StorageUnavailable(
        `${this.#uri(key)} was put, but the answer was lost, and now it holds other bytes: whether the put was stored is ` +
          'unknown. Read it and decide again',
        { cause: error },
      );
    }
  }

  async #read(key: string, ifNoneMatch?: ETag): Promise<GetResult> {
    const condition = ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch };
    let output: GetObjectCommandOutput;
    try {
      output = await this.#client.send(new GetObjectCommand({ ...this.#at(key), ...condition }));
    } catch (error) {
      if (statusOf(error) === 304) return { kind: 'not-modified' };
      if (isAbsent(error)) return { kind: 'absent' };
      throw error;
    }
    const stream = output.Body as Readable;
    try {
      const head = this.#headOf(key, output);
      return { kind: 'found', body: await this.#readBody(key, stream, head.sizeBytes), ...head };
    } finally {
      // Frees the socket in every case.
      stream.destroy();
    }
  }

  async #readBody(key: string, stream: Readable, sizeBytes: number): Promise<Uint8Array> {
    if (sizeBytes > this.#maxBodyBytes) {
      throw this.#corrupt(key, `it has ${sizeBytes} bytes, which is above the limit for objects of this store`);
    }
    return await readWhole(stream, sizeBytes);
  }

  async #readHead(key: string): Promise<ObjectHead | null> {
    const output = await headOrNull(this.#client, this.#at(key));
    return output && this.#headOf(key, output);
  }

  #headOf(key: string, output: GetObjectCommandOutput | HeadObjectCommandOutput): ObjectHead {
    const { ContentLength, ContentType = this.#foreign, CacheControl = this.#foreign, Metadata = {} } = output;
    const generation = Metadata[GENERATION_METADATA] ?? (this.#isShared ? '0' : '');
    if (ContentLength === undefined || ContentType === undefined || CacheControl === undefined) {
      throw this.#corrupt(key, 'its length, Content-Type or Cache-Control is missing');
    }
    if (!/^(0|-?[1-9]\d{0,15})$/.test(generation)) {
      throw this.#corrupt(key, `its metadata "${GENERATION_METADATA}" is not a number: "${generation}"`);
    }
    const metadata: ObjectMetadata = {
      contentType: ContentType,
      cacheControl: CacheControl,
      cacheTag: Metadata[CACHE_TAG_METADATA] ?? null,
      generation: Number(generation),
      nextCursor: Metadata[NEXT_CURSOR_METADATA] ?? null,
    };
    return { etag: this.#etagOf(key, output.ETag), sizeBytes: ContentLength, metadata };
  }

  /** The value of a missing header field: another program may have put the object. */
  get #foreign(): string | undefined {
    return this.#isShared ? '' : undefined;
  }

  #etagOf(key: string, etag: string | undefined): ETag {
    if (etag === undefined || !/^"[^"]+"$/.test(etag)) throw this.#corrupt(key, `its ETag is ${etag}`);
    return etag as ETag;
  }

  #corrupt(key: string, what: string): StorageCorrupt {
    return new StorageCorrupt(
      `${this.#uri(key)} was not written by this store: ${what}. Find out who wrote it, and remove it. ` +
        'The ledger can make it again: docs/deploy.md, "Rebuild what is published".',
    );
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  #uri(key: string): string {
    return `s3://${this.#bucket}/${this.#prefix}${key}`;
  }

  /** Waits until fewer requests are running, and turns every failure into an error of the port. */
  async #ask<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.#inTurn(work);
    } catch (error) {
      if (error instanceof StorageUnavailable || error instanceof StorageCorrupt) throw error;
      const { name, message } = error as Error;
      throw new StorageUnavailable(
        `${this.#uri(key)} cannot be used (${name}: ${message}): check the bucket, its region, the role's permissions ` +
          'and the network',
        { cause: error },
      );
    }
  }
}

function userMetadata({ generation, cacheTag, nextCursor }: ObjectMetadata): Record<string, string> {
  return {
    [GENERATION_METADATA]: String(generation),
    ...(cacheTag !== null && { [CACHE_TAG_METADATA]: cacheTag }),
    ...(nextCursor !== null && { [NEXT_CURSOR_METADATA]: nextCursor }),
  };
}

/** Whether the stored object equals the given one, to the last byte and header. */
function isSame(present: StoredObject, body: Buffer, metadata: ObjectMetadata): boolean {
  return body.equals(present.body) && isDeepStrictEqual(present.metadata, metadata);
}
