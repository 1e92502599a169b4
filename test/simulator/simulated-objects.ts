/**
 * The object store of a simulated world. Stricter than a real one: it shows each put and delete to a watch, which ends the
 * run if a reader could see a fault.
 */
import {
  bodyDigest,
  checkListPrefix,
  checkObjectBody,
  checkObjectKey,
  etagOfDigest,
  LIST_PAGE_SIZE,
} from '../../storage/ports/object-rules.ts';
import type { ETag, GetResult, ObjectHead, ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import type { Incarnation, Performer } from './processes.ts';

export interface StoredEntry {
  readonly etag: ETag;
  readonly body: Uint8Array;
  readonly metadata: ObjectMetadata;
}

export type ObjectEntries = Map<string, StoredEntry>;

/** Called before each put or delete. */
export interface StoreWitness {
  put(key: string, entry: StoredEntry, before: StoredEntry | undefined): void;
  deleted(key: string, entry: StoredEntry): void;
}

/** Guards that are switched off: the store does not check the condition. */
export interface StoreGaps {
  readonly put?: (key: string) => boolean;
  readonly delete?: (key: string) => boolean;
}

/** The port of one process. */
export function objectsPortOf(
  entries: ObjectEntries,
  operations: Performer,
  witness: StoreWitness,
  caller: Incarnation,
  gaps: StoreGaps = {},
): ObjectStore {
  const read = <Result>(name: string, key: string, effect: () => Result, describe: (result: Result) => string) =>
    operations.perform(caller, { name, key: () => key, isWrite: false, effect, describe });
  return {
    async get(key, options = {}) {
      checkObjectKey(key);
      return await read(
        'objects.get',
        key,
        (): GetResult => {
          const entry = entries.get(key);
          if (entry === undefined) return { kind: 'absent' };
          if (entry.etag === options.ifNoneMatch) return { kind: 'not-modified' };
          return { kind: 'found', body: entry.body, ...headOf(entry) };
        },
        (result) => (result.kind === 'found' ? `generation ${result.metadata.generation}` : result.kind),
      );
    },
    async stat(key) {
      checkObjectKey(key);
      const effect = (): ObjectHead | null => {
        const entry = entries.get(key);
        return entry === undefined ? null : headOf(entry);
      };
      return await read('objects.stat', key, effect, (found) =>
        found === null ? 'absent' : `generation ${found.metadata.generation}`,
      );
    },
    async put(key, body, metadata, condition) {
      checkObjectKey(key);
      checkObjectBody(key, body);
      const entry = { etag: etagOfDigest(bodyDigest(body)), body: new Uint8Array(body), metadata: { ...metadata } };
      return await operations.perform(caller, {
        name: 'objects.put',
        key: () => `${key} of generation ${metadata.generation}`,
        isWrite: true,
        effect: () => {
          const current = entries.get(key);
          const holds = condition.kind === 'absent' ? current === undefined : current?.etag === condition.etag;
          if (!holds && !gaps.put?.(key)) return { kind: 'refused' as const };
          witness.put(key, entry, current);
          entries.set(key, entry);
          return { kind: 'stored' as const, etag: entry.etag };
        },
        describe: ({ kind }) => kind,
      });
    },
    async delete(key, etag) {
      checkObjectKey(key);
      return await operations.perform(caller, {
        name: 'objects.delete',
        key: () => key,
        isWrite: true,
        effect: () => {
          const current = entries.get(key);
          if (current === undefined) return 'deleted' as const;
          if (current.etag !== etag && !gaps.delete?.(key)) return 'refused' as const;
          entries.delete(key);
          witness.deleted(key, current);
          return 'deleted' as const;
        },
        describe: (outcome) => outcome,
      });
    },
    async list(prefix, options = {}) {
      checkListPrefix(prefix);
      const { after = '' } = options;
      return await read(
        'objects.list',
        prefix,
        () => {
          // Keys are ASCII, whose UTF-16 order is its byte order.
          const keys = [...entries.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
          const page = keys.slice(0, LIST_PAGE_SIZE);
          return { keys: page, next: keys.length > page.length ? (page.at(-1) ?? null) : null };
        },
        ({ keys }) => `${keys.length} keys`,
      );
    },
    etagOf: (body) => etagOfDigest(bodyDigest(body)),
  };
}

function headOf({ etag, body, metadata }: StoredEntry): ObjectHead {
  return { etag, sizeBytes: body.byteLength, metadata: { ...metadata } };
}
