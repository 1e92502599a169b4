/** An object store in memory for tests, stricter than any real one: it throws where a real one would let a bug pass. */
import {
  bodyDigest,
  checkListPrefix,
  checkObjectBody,
  checkObjectKey,
  etagOfDigest,
  LIST_PAGE_SIZE,
} from '../../storage/ports/object-rules.ts';
import type {
  ETag,
  GetResult,
  KeyPage,
  ObjectHead,
  ObjectMetadata,
  ObjectStore,
  PutCondition,
  PutResult,
} from '../../storage/ports/object-store.ts';

/** A forbidden call. Not a storage error, so that no retry hides it. */
export class ObjectStoreMisuse extends Error {
  override readonly name = 'ObjectStoreMisuse';
}

export type ObjectStoreMethod = Exclude<keyof ObjectStore, 'etagOf'>;

export interface MemoryObjects extends ObjectStore {
  /** Calls by method since the last {@link MemoryObjects.resetCounts}, with any outcome. */
  readonly counts: { [Method in ObjectStoreMethod]: number };
  /** Stored objects since then, in order. Refused puts are only in `counts.put`. */
  readonly puts: { readonly key: string; readonly sizeBytes: number }[];
  resetCounts(): void;
  /** Everything stored now, in order of key; copies. */
  snapshot(): Map<string, { body: Uint8Array; metadata: ObjectMetadata }>;
  /** Another store with all that this one has, and remembers, now. */
  copy(): MemoryObjects;
}

interface Entry {
  readonly etag: ETag;
  readonly body: Uint8Array;
  readonly metadata: ObjectMetadata;
}

/**
 * Whether the key names something that never changes: a closed page, a bundle, a list's layout. A tile of the log does
 * not change once a checkpoint leads to it; the simulator checks that.
 */
function isImmutable(key: string): boolean {
  return /^(redo|layout)\/|\/pages\/\d+-[0-9a-f]+\.json$/.test(key);
}

interface Stored {
  readonly entries: Map<string, Entry>;
  /** By key, kept for ever: the bytes of deleted pages, and the generations and bytes of deleted heads. */
  readonly immutableETags: Map<string, ETag>;
  readonly newestGenerations: Map<string, { readonly generation: number; readonly etag: ETag }>;
}

export function openMemoryObjects(): MemoryObjects {
  return objectsOf({ entries: new Map(), immutableETags: new Map(), newestGenerations: new Map() });
}

function objectsOf({ entries, immutableETags, newestGenerations }: Stored): MemoryObjects {
  const counts = { get: 0, stat: 0, put: 0, delete: 0, list: 0 };
  const puts: { key: string; sizeBytes: number }[] = [];

  function checkPut(key: string, etag: ETag, metadata: ObjectMetadata, condition: PutCondition): void {
    checkMetadata(key, metadata);
    if (!isImmutable(key)) return;
    if (condition.kind === 'matches') throw new ObjectStoreMisuse(`${key} is immutable and must not be swapped`);
    if ((immutableETags.get(key) ?? etag) !== etag) throw new ObjectStoreMisuse(`${key} once had other bytes`);
  }

  return {
    counts,
    puts,
    resetCounts() {
      for (const method of Object.keys(counts) as ObjectStoreMethod[]) counts[method] = 0;
      puts.length = 0;
    },
    snapshot() {
      const keys = [...entries.keys()].sort();
      return new Map(
        keys.map((key) => {
          const { body, metadata } = entries.get(key) as Entry;
          return [key, { body: new Uint8Array(body), metadata: { ...metadata } }];
        }),
      );
    },
    copy: () =>
      objectsOf({
        entries: new Map(entries),
        immutableETags: new Map(immutableETags),
        newestGenerations: new Map(newestGenerations),
      }),
    async get(key, options = {}): Promise<GetResult> {
      counts.get++;
      checkObjectKey(key);
      const entry = entries.get(key);
      if (entry === undefined) return { kind: 'absent' };
      if (entry.etag === options.ifNoneMatch) return { kind: 'not-modified' };
      return { kind: 'found', body: new Uint8Array(entry.body), ...headOf(entry) };
    },
    async stat(key): Promise<ObjectHead | null> {
      counts.stat++;
      checkObjectKey(key);
      const entry = entries.get(key);
      return entry === undefined ? null : headOf(entry);
    },
    async put(key, body, metadata, condition): Promise<PutResult> {
      counts.put++;
      checkObjectKey(key);
      checkObjectBody(key, body);
      const etag = etagOf(body);
      checkPut(key, etag, metadata, condition);
      const current = entries.get(key);
      const holds = condition.kind === 'absent' ? current === undefined : current?.etag === condition.etag;
      if (!holds) return { kind: 'refused' };
      if (isImmutable(key)) {
        immutableETags.set(key, etag);
      } else {
        const newest = newestGenerations.get(key);
        // The sweep puts back what it has deleted too late: the same bytes, so readers see nothing older.
        const isPutBack = current === undefined && etag === newest?.etag;
        if (newest !== undefined && metadata.generation < newest.generation && !isPutBack) {
          throw new ObjectStoreMisuse(
            `${key} of generation ${newest.generation} put by the older ${metadata.generation}`,
          );
        }
        if (!isPutBack) newestGenerations.set(key, { generation: metadata.generation, etag });
      }
      entries.set(key, { etag, body: new Uint8Array(body), metadata: { ...metadata } });
      puts.push({ key, sizeBytes: body.byteLength });
      return { kind: 'stored', etag };
    },
    async delete(key, etag) {
      counts.delete++;
      checkObjectKey(key);
      const current = entries.get(key);
      if (current !== undefined && current.etag !== etag) return 'refused';
      entries.delete(key);
      return 'deleted';
    },
    async list(prefix, options = {}): Promise<KeyPage> {
      counts.list++;
      checkListPrefix(prefix);
      const { after = '' } = options;
      // Keys are ASCII, whose UTF-16 order is its byte order.
      const keys = [...entries.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
      const page = keys.slice(0, LIST_PAGE_SIZE);
      return { keys: page, next: keys.length > page.length ? (page.at(-1) ?? null) : null };
    },
    etagOf,
  };
}

function etagOf(body: Uint8Array): ETag {
  return etagOfDigest(bodyDigest(body));
}

function headOf({ etag, body, metadata }: Entry): ObjectHead {
  return { etag, sizeBytes: body.byteLength, metadata: { ...metadata } };
}

function checkMetadata(key: string, metadata: ObjectMetadata): void {
  const isText = (value: unknown) => typeof value === 'string' && value !== '';
  const isTextOrNull = (value: unknown) => value === null || isText(value);
  const isComplete =
    isText(metadata?.contentType) &&
    isText(metadata.cacheControl) &&
    isTextOrNull(metadata.cacheTag) &&
    isTextOrNull(metadata.nextCursor) &&
    Number.isSafeInteger(metadata.generation);
  if (!isComplete) throw new ObjectStoreMisuse(`${key} is put with metadata missing: ${JSON.stringify(metadata)}`);
}
