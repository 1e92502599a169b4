/**
 * The lease of a bucket: one process writes at a time. Each process has its own data folder, so no file lock can exclude the
 * others. Typically a job runs twice, each time with a new disk.
 *
 * No clocks are compared. A process that watches the lease considers it dead if its object has not changed for {@link
 * DEAD_AFTER_MS}, by the clock of the watching process. The holder writes for at most half of that time after the beginning of
 * a renewal, and renews the lease before that.
 *
 * If the store evaluates conditions, only one of several takers wins. If not, a taker reads the lease again after a pause. Then
 * two takers of the same moment may both win, if the put of one takes longer than that pause.
 */
import { randomUUID } from 'node:crypto';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';
import { ifStill } from '../../storage/ports/objects.ts';
import { FolderInUse } from '../service/start-error.ts';

export const LEASE_KEY = '_tidemark-lease';
/** A lease is dead if it has not changed for this time. */
const DEAD_AFTER_MS = 30_000;
const RENEWED_AFTER_MS = DEAD_AFTER_MS / 3;
const LOOK_EVERY_MS = 1_000;
/** The longest wait: longer than the lease of a killed process lasts. */
const WAIT_MS = 2 * DEAD_AFTER_MS;
/** The pause before a taker checks whether another process has taken the lease, too. */
const SETTLE_MS = 2_000;

/** Of a file of ours that lies beside the public ones. */
export const notPublished = (contentType: string) =>
  ({ contentType, cacheControl: 'no-store', cacheTag: null, generation: 0, nextCursor: null }) as const;

export interface LeaseOptions extends Pick<Runtime, 'pause'> {
  readonly store: Pick<ObjectStore, 'get' | 'put' | 'delete'>;
  /** The name of the bucket, for messages. */
  readonly name: string;
  /** The same for all processes of one data folder; only one of them runs at a time. */
  readonly owner: string;
  /** Whether the store evaluates the conditions of puts. */
  readonly isConditional: () => Promise<boolean>;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
}

export interface BucketLease {
  /** Resolves when this process may write. @throws FolderInUse if another process holds the lease, or has written meanwhile */
  hold(): Promise<void>;
  /** @param check called when the lease is taken, or taken again after a gap. It rejects if another process has written */
  onTaken(check: () => Promise<void>): void;
  release(): Promise<void>;
}

export function openLease({ store, name, owner, isConditional, nowMs, pause }: LeaseOptions): BucketLease {
  let held: { readonly etag: ETag; readonly sinceMs: number } | null = null;
  let taking: Promise<void> | null = null;
  let check: () => Promise<void> = async () => {};

  /** @param before null: no lease may exist */
  async function write(before: ETag | null): Promise<boolean> {
    const sinceMs = nowMs();
    const body = Buffer.from(JSON.stringify({ owner, renewal: randomUUID() }));
    const result = await store.put(LEASE_KEY, body, notPublished('application/json'), ifStill(before));
    held = result.kind === 'stored' ? { etag: result.etag, sinceMs } : null;
    return held !== null;
  }

  async function take(): Promise<void> {
    const begunMs = nowMs();
    let [seen, seenSinceMs]: [ETag | null, number] = [null, begunMs];
    for (;;) {
      const present = await store.get(LEASE_KEY);
      const etag = present.kind === 'found' ? present.etag : null;
      if (etag !== seen) [seen, seenSinceMs] = [etag, nowMs()];
      const isDead = nowMs() - seenSinceMs >= DEAD_AFTER_MS;
      const isFree = present.kind !== 'found' || isDead || ownerOf(present.body) === owner;
      if (isFree && (await write(etag)) && (await isSettled())) return;
      if (nowMs() - begunMs > WAIT_MS)
        throw new FolderInUse(`Another process publishes into ${name}: wait for its end.`);
      if (!isFree) await pause(LOOK_EVERY_MS);
    }
  }

  async function isSettled(): Promise<boolean> {
    if (await isConditional()) return true;
    await pause(SETTLE_MS);
    const present = await store.get(LEASE_KEY);
    return present.kind === 'found' && present.etag === held?.etag;
  }

  async function takeOrRenew(): Promise<void> {
    if (held !== null && (await write(held.etag))) return;
    await take();
    try {
      await check();
    } catch (cause) {
      await release();
      throw cause;
    }
  }

  async function release(): Promise<void> {
    const { etag = null } = held ?? {};
    held = null;
    // After a failure, the others wait until the lease is dead.
    if (etag !== null) await store.delete(LEASE_KEY, etag).catch(() => undefined);
  }

  return {
    async hold() {
      if (held !== null && nowMs() - held.sinceMs < RENEWED_AFTER_MS) return;
      taking ??= takeOrRenew().finally(() => {
        taking = null;
      });
      await taking;
    },
    onTaken: (called) => {
      check = called;
    },
    release,
  };
}

/** Null: another program has written the object. */
function ownerOf(body: Uint8Array): string | null {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { owner?: string }).owner ?? null;
  } catch {
    return null;
  }
}
