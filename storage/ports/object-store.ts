/** The object store: immutable pages, fenced heads, redo bundles. The ledger can rebuild all of it. */

/**
 * A strong validator of an object's bytes (RFC 9110, section 8.8.3), quotes included. The same bytes under the same key
 * keep their ETag. Opaque: only the store can make one, so a swap cannot be forged from a digest.
 */
export type ETag = string & { readonly __brand: 'ETag' };

/** Metadata of an object. The table of object kinds defines all of it except `generation` and `nextCursor`. */
export interface ObjectMetadata {
  readonly contentType: string;
  readonly cacheControl: string;
  readonly cacheTag: string | null;
  /** The generation that wrote the object: the fence against late writers. */
  readonly generation: number;
  /** The cursor of the next page, for hosts that can send a `Link` header. */
  readonly nextCursor: string | null;
}

export interface ObjectHead {
  readonly etag: ETag;
  readonly sizeBytes: number;
  readonly metadata: ObjectMetadata;
}

export interface StoredObject extends ObjectHead {
  readonly body: Uint8Array;
}

export type GetResult =
  | ({ readonly kind: 'found' } & StoredObject)
  | { readonly kind: 'not-modified' }
  | { readonly kind: 'absent' };

/** There is no unconditional put: a writer cannot overwrite an object that it has not seen. */
export type PutCondition = { readonly kind: 'absent' } | { readonly kind: 'matches'; readonly etag: ETag };

export type PutResult = { readonly kind: 'stored'; readonly etag: ETag } | { readonly kind: 'refused' };

export interface KeyPage {
  readonly keys: readonly string[];
  /** Pass it as `after` for the next page; null at the end. */
  readonly next: string | null;
}

/**
 * Promises, proven for every adapter by one contract suite:
 *
 * - `put` is atomic: a reader sees the old object or the new one as a whole, bytes and metadata together. When it
 *   resolves with `stored`, the object is durable. Of any number of simultaneous puts under one condition, exactly one
 *   is stored.
 * - `refused` means that the condition did not hold, and nothing was changed. When `put` rejects, the outcome is
 *   unknown, and the write may still land later. So after a refused retry, compare bytes and generations: the refusal
 *   may be due to one's own first try.
 * - `delete` removes the object only while it still has this ETag. An object that is already absent counts as deleted.
 * - Reads see every put and delete that was acknowledged before they began.
 * - `list` gives keys in the order of their UTF-8 bytes, at most 1,000 a page. It may miss keys that are written meanwhile.
 *
 * Keys are segments of `[a-z0-9@._-]` joined by `/`, none of which begins with a dot; any other key throws a `RangeError`. A failure
 * rejects with `StorageUnavailable` (retry) or `StorageCorrupt` (page a human), from `errors.ts`.
 */
export interface ObjectStore {
  get(key: string, options?: { readonly ifNoneMatch?: ETag }): Promise<GetResult>;
  stat(key: string): Promise<ObjectHead | null>;
  put(key: string, body: Uint8Array, metadata: ObjectMetadata, condition: PutCondition): Promise<PutResult>;
  delete(key: string, etag: ETag): Promise<'deleted' | 'refused'>;
  list(prefix: string, options?: { readonly after?: string }): Promise<KeyPage>;
  /**
   * The ETag of an object with these bytes, so that a writer that stores it need not read the object before the next swap.
   * Sends no request. Absent: the store does not derive ETags from bytes, or reading one costs nothing.
   */
  etagOf?(body: Uint8Array): ETag;
}
