/** The answer to `GET /healthz`. Anybody may ask every second, so it names faults but no paths. */

import type { HealthDocument } from '../../contract/bodies/health.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import { withTimeout } from '../../storage/concurrency/with-timeout.ts';
import { diskFault } from '../../storage/ports/disk-fault.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { type AnyRange, queryPages } from '../../storage/ports/paging.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import { DEFERRED, FRESH_MARKS, HEAD_KEY, REFRESH_MARKS } from '../../storage/records/publication.ts';
import type { HealthReport } from '../edge/answer.ts';
import { noAnswer } from '../edge/cache.ts';
import { readSourceHealth } from '../loops/source-health.ts';
import type { Background } from './background.ts';

/** All requests within this time get the same report, so that frequent requests cost nothing. */
const REPORT_MS = 1_000;
/** A successful test write counts for this long, because each one waits for the disk. */
const WRITTEN_MS = 5_000;
/** The store has failed if it takes longer. */
const READ_MS = 2_000;
/** The time in docs/operations.md, which also names it as an alarm. */
const STALLED_MS = 300_000;
/** Counting stops here, so that a large backlog costs little. */
const COUNTED_AT_MOST = 1_000;
const COUNTED_AT_ONCE = 200;

const SNAPSHOT = publicKey({ kind: 'snapshot' });

const FAULTS = {
  objects: 'The published objects cannot be read. Readers get what is in memory for five minutes, and then 503.',
  ledger: 'The ledger cannot be read or written. Writes fail, and nothing new is published.',
  publishing: 'Accepted changes wait, and publications fail.',
} as const;

type Part = keyof typeof FAULTS;

export interface HealthOptions {
  readonly ledger: Pick<Ledger, 'get' | 'query'>;
  /** Throws if the ledger cannot be written. */
  readonly checkWritable: () => void;
  readonly objects: Pick<ObjectStore, 'stat'>;
  readonly nowMs: () => number;
  /** Whether readers are answered from the store. Until then, a missing object is not a fault. */
  readonly isReady: () => boolean;
  /** Null: background work has not started. */
  readonly background: () => Pick<
    Background,
    'publishLagMs' | 'publishStalledMs' | 'publishFailure' | 'expectations' | 'lastVerify'
  > | null;
  /** Receives each fault once, with its cause. */
  readonly report: (what: string, cause: unknown) => void;
}

export function createHealth(options: HealthOptions): () => Promise<HealthReport> {
  const { ledger, objects, nowMs, isReady, checkWritable, background, report } = options;
  /** The failing parts, each with the words on the disk, if that is the cause. */
  const failing = new Map<Part, string | null>();
  let newest: { readonly atMs: number; readonly report: Promise<HealthReport> } | null = null;
  let writtenAtMs = Number.NEGATIVE_INFINITY;

  /** An absolute difference, because the clock may have been set back. */
  const isWithin = (atMs: number, durationMs: number) => Math.abs(nowMs() - atMs) < durationMs;

  async function check(part: Part, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      failing.delete(part);
    } catch (cause) {
      if (!failing.has(part)) report(`the health check of the ${part} failed`, cause);
      failing.set(part, diskFault(cause));
    }
  }

  async function readState() {
    const head = (await ledger.get(HEAD_KEY))?.value;
    const sources = await readSourceHealth(ledger, nowMs());
    return {
      ...(head === undefined ? {} : { generation: head.generation, publishedAt: head.publishedAt }),
      publishLagSeconds: Math.floor((background()?.publishLagMs() ?? 0) / 1000),
      marksDue: (await count(FRESH_MARKS)) + (await count(REFRESH_MARKS)),
      deferred: await count(DEFERRED),
      queue: await count(WORK_QUEUE),
      failingSources: sources.filter(({ failures }) => failures > 0).length,
      missedRuns: sources.filter(({ isMissed }) => isMissed).length,
    };
  }

  /** Partition by partition, because a page of a busy range would read as many items of each. */
  async function count(range: AnyRange<unknown>): Promise<number> {
    const { prefix = '' } = range;
    let found = 0;
    for (const partition of 'shards' in range ? range.shards : [range.partition]) {
      for await (const { length } of queryPages(ledger, { partition, prefix }, { limit: COUNTED_AT_ONCE })) {
        found += length;
        if (found >= COUNTED_AT_MOST) return COUNTED_AT_MOST;
      }
    }
    return found;
  }

  async function makeReport(): Promise<HealthReport> {
    let state: Partial<HealthDocument> | null = null;
    await check('ledger', async () => {
      state = await readState();
      if (isWithin(writtenAtMs, WRITTEN_MS)) return;
      writtenAtMs = Number.NEGATIVE_INFINITY;
      checkWritable();
      writtenAtMs = nowMs();
    });
    await check('objects', async () => {
      const shown = await withTimeout(objects.stat(SNAPSHOT), READ_MS, () => noAnswer(READ_MS));
      if (shown === null && isReady()) throw new StorageUnavailable(`${SNAPSHOT} is lost`);
    });
    await check('publishing', async () => {
      const seconds = Math.floor((background()?.publishStalledMs() ?? 0) / 1000);
      const failure = background()?.publishFailure();
      // Waiting does not make room, so this is a fault at once.
      if (diskFault(failure) !== null) throw failure;
      if (seconds * 1000 > STALLED_MS) throw new Error(`nothing was published for ${seconds} s, although changes wait`);
    });
    const detailOf = (part: Part, disk: string | null) => (disk === null ? FAULTS[part] : `${FAULTS[part]} ${disk}`);
    const faults = [...failing].map(([part, disk]) => ({ part, detail: detailOf(part, disk) }));
    const status = faults.length > 0 ? 'failing' : isReady() ? 'ok' : 'starting';
    const late = background()?.expectations()?.late(nowMs());
    const body: HealthDocument = {
      status,
      ...(state as Partial<HealthDocument> | null),
      ...(late === undefined ? {} : { lateSources: late.length }),
      lastVerify: background()?.lastVerify() ?? null,
    };
    return { healthy: status === 'ok', body: faults.length > 0 ? { ...body, faults } : body };
  }

  return () => {
    if (newest === null || !isWithin(newest.atMs, REPORT_MS)) newest = { atMs: nowMs(), report: makeReport() };
    return newest.report;
  };
}
