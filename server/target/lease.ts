/**
 * The lease of a bucket: one process writes at a time. Each process has a data folder of its own, so no lock of a file keeps the
 * others out. A job that runs twice, each time with a new disk, is the usual case.
 *
 * No clocks are compared. A lease is dead if its object has not changed for {@link DEAD_AFTER_MS}, by the clock of the one who watches
 * it. Its holder writes for half of that time at most after it has begun to renew it, and renews it before.
 *
 * If the store evaluates conditions, one of several takers wins. If not, a taker looks again after a pause. Then two takers of
 * the same moment may both win, if one of them takes longer than that pause for its put.
 */
import { randomUUID } from 'node:crypto';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';
import { FolderInUse } from '../service/start-error.ts';

export const LEASE_KEY = '_tidemark-lease';
/** How long it must be unchanged to be dead. */
const DEAD_AFTER_MS = 30_000;
const RENEWED_AFTER_MS = DEAD_AFTER_MS / 3;
const LOOK_EVERY_MS = 1_000;
/** Longer than a dead lease lasts. */
const WAIT_MS = 2 * DEAD_AFTER_MS;
/** Before a taker looks whether another one has taken it too. */
const SETTLE_MS = 2_000;

const METADATA = {
  contentType: 'application/json',
  cacheControl: 'no-store',
  cacheTag: null,
  generation: 0,
  nextCursor: null,
};

export interface LeaseOptions extends Pick<Runtime, 'pause'> {
  readonly store: Pick<ObjectStore, 'get' | 'put' | 'delete'>;
  /** For messages: the bucket. */
  readonly name: string;
  /** The same for each process of one data folder, of which one runs at a time. */
  readonly owner: string;
  /** Whether the store evaluates the conditions of puts. */
  readonly isConditional: () => Promise<boolean>;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
}

export interface BucketLease {
  /** Resolves when this process may write. @throws FolderInUse if another process holds it, or has written meanwhile */
  hold(): Promise<void>;
  /** @param check is called whenever the lease was not held without a gap. It rejects if another process has written */
  onTaken(check: () => Promise<void>): void;
  release(): Promise<void>;
}

export function openLease({ store, name, owner, isConditional, nowMs, pause }: LeaseOptions): BucketLease {
  let held: { readonly etag: ETag; readonly sinceMs: number } | null = null;
  let taking: Promise<void> | null = null;
  let check: () => Promise<void> = async () => {};

  /** @param before null: there must be none */
  async function write(before: ETag | null): Promise<boolean> {
    const sinceMs = nowMs();
    const body = Buffer.from(JSON.stringify({ owner, renewal: randomUUID() }));
    const condition = before === null ? ({ kind: 'absent' } as const) : ({ kind: 'matches', etag: before } as const);
    const result = await store.put(LEASE_KEY, body, METADATA, condition);
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
    // If it fails, the others wait until the lease is dead.
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

/** Null: it was written by somebody else. */
function ownerOf(body: Uint8Array): string | null {
  try {
    return (JSON.parse(Buffer.from(body).toString('utf8')) as { owner?: string }).owner ?? null;
  } catch {
    return null;
  }
}
