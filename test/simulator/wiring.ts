/**
 * Puts the code under test together: how each kind of process is built, and which of its errors mean "try again". `Wiring`
 * holds functions, so that a test can replace one and switch off a guard.
 */

import type { Projection } from '../../contract/files/projections.ts';
import type { IngestMode } from '../../contract/ingest/ingest-records.ts';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import type { Principal } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import type { HttpEvent, HttpResult } from '../../lambdas/http/event.ts';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { createUploadRunner, type UploadRunner } from '../../lambdas/ingest/run-upload.ts';
import { newBatch } from '../../lambdas/ingest/stored-batch.ts';
import { createWriteApi } from '../../lambdas/pipeline/handle.ts';
import { createSecrets } from '../../lambdas/pipeline/secrets.ts';
import { verifyAudit } from '../../lambdas/review/verify-audit.ts';
import { affectedMarkets } from '../../lambdas/worker/affected-markets.ts';
import { isRetryable } from '../../lambdas/worker/contended.ts';
import { runWork } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import { collectGarbage } from '../../publisher/collect-garbage.ts';
import { rendererOf } from '../../publisher/core/bodies/render.ts';
import type { StaticBodies } from '../../publisher/dependencies.ts';
import {
  DEFAULT_HISTORY_FILE_BYTES,
  type PageSizes,
  type PublisherDependencies,
} from '../../publisher/dependencies.ts';
import { Superseded } from '../../publisher/errors.ts';
import { NO_CACHES } from '../../publisher/notify/purge.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { repairOne } from '../../publisher/repair/repair-market.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { staticBodies } from '../../publisher/static-bodies.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { routeRead } from '../../server/edge/route.ts';
// The publisher loads it when it needs it. That would take real time, which a world does not have.
import '../../publisher/core/log/reconcile-log.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import { created } from '../../storage/ports/changes.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import type { UploadStore } from '../../storage/ports/upload-store.ts';
import { workKey } from '../../storage/records/batches.ts';
import { MARKET_INDEX } from '../../storage/records/markets.ts';
import { type HeadValue, refreshMarkKey } from '../../storage/records/publication.ts';
import { TEST_LOG } from '../publisher/log/test-log.ts';
import { BROWSER_FIELDS } from '../publisher/world.ts';
import type { LedgerItems } from './ledger-items.ts';
import { fileProjectionOf } from './published.ts';
// The first sweep loads it, and that takes real time.
import '../../publisher/projections/latest/reachable.ts';

/** The part of the world that one process has. */
export interface Host extends Runtime {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  readonly uploads: UploadStore;
  readonly settings: Settings;
}

/** Settings that differ between deployments. */
export interface Settings {
  /** The cadence of the list. */
  readonly listEverySeconds: number;
  readonly maxMarkedMarkets: number;
  readonly pageSizes: PageSizes;
  /** A version of the static bodies. */
  readonly version: number;
  readonly projections: readonly Projection[];
  readonly historyFileBytes: number;
  /** Of a worker. */
  readonly transactionsAtOnce: number;
  /** No commit wakes a worker. Each looks once a minute, and finds many batches. */
  readonly workersOnlyPoll: boolean;
}

/** Small pages, so that a few markets fill several. */
export const PLAIN: Settings = {
  listEverySeconds: 0,
  maxMarkedMarkets: 100,
  pageSizes: { markets: 3, observations: 4, latest: 2 },
  version: 1,
  projections: ['log'],
  historyFileBytes: DEFAULT_HISTORY_FILE_BYTES,
  transactionsAtOnce: 1,
  workersOnlyPoll: false,
};

/** When to publish again: at once, soon, or when new work is due. */
export type Left = 'more' | 'deferred' | 'nothing';

export interface AcceptedBatch {
  readonly id: string;
  readonly subject: string;
  readonly mode: IngestMode;
  readonly partial: boolean;
  readonly records: readonly unknown[];
}

export type Api = (event: HttpEvent) => Promise<HttpResult>;

export interface Wiring {
  /** Publishes one generation. */
  publish(host: Host): Promise<Left>;
  /** Works off the queue. Calls `failed` for work that needs an operator. */
  work(host: Host, hasTime: () => boolean, failed: (error: unknown) => void): Promise<void>;
  sweep(host: Host): Promise<void>;
  /** An operator's repair of a ledger that may hold a part of a transaction. */
  restore(host: Host): Promise<void>;
  /** An operator's repair of a market that the log of a worker names. */
  repair(host: Host, market: string): Promise<void>;
  openApi(host: Host): Api;
  /** Takes in a batch as the write API does, but without the request pipeline, which most worlds do not test. */
  accept(host: Host, batch: AcceptedBatch): Promise<void>;
  /** The content of an upload has arrived. */
  uploadArrived(host: Host, id: string): Promise<void>;
}

export const START_MS = Date.parse('2026-10-01T12:00:00Z');

const STATIC_BODIES = [1, 2].map((version) =>
  staticBodies({
    waitlist: waitlistBody({ email: 'keys@tidemark.test' }),
    openapi: { openapi: '3.1.0', info: { title: 'Tidemark', version: `${version}` }, paths: { '/api/v1/markets': {} } },
  }),
);

const UPLOAD_PARTS = { maxLines: 3, maxBytes: 1024 * 1024, maxLineBytes: 128 * 1024 };

export const WIRING: Wiring = {
  async publish(host) {
    try {
      return leftAfter(await publish(publisherOf(host)));
    } catch (error) {
      if (error instanceof Superseded) return 'more';
      throw error;
    }
  },
  async work(host, hasTime, failed) {
    await runWork({
      ...host,
      owner: host.newAttemptId(),
      transactionsAtOnce: host.settings.transactionsAtOnce,
      hasTime,
      failed: (_item, error) => failed(error),
      runners: createRunners(host, uploadRunnerOf(host)),
    });
  },
  async sweep(host) {
    await collectGarbage(publisherOf(host), { dryRun: false });
  },
  async restore(host) {
    await restore(publisherOf(host));
  },
  async repair(host, market) {
    await repairOne(host, market);
  },
  openApi(host) {
    const handle = createWriteApi({
      ...host,
      secrets: SECRETS,
      environment: 'test',
      authenticator: {
        authenticate: async (authorization) => ({ principal: principalOf(authorization ?? '') }),
        forget: () => undefined,
        learn: () => undefined,
      },
      rateLimiter: createRateLimiter({
        nowMs: host.nowMs,
        policy: { name: 'default', limit: 1_000_000, windowSeconds: 60 },
      }),
      cursors: createCursors(SECRETS.cursorKey),
      log: () => undefined,
    });
    return async (event) => (await handle(event)).result;
  },
  async accept(host, { id, subject, mode, partial, records }) {
    const described = { id, subject, mode, partial, dryRun: false, mediaType: 'application/json' } as const;
    const receivedAt = new Date(host.nowMs()).toISOString();
    const body = Buffer.from(JSON.stringify({ records }));
    const { changes } = newBatch({ ...described, records: records.length, receivedAt }, body);
    const work = created(workKey(id, subject), {
      kind: 'ingest',
      batch: id,
      lane: subject,
      lease: null,
      ...affectedMarkets(records),
    });
    // Refused if an earlier try has taken it in.
    await host.ledger.transact([...changes, work], { attemptId: host.newAttemptId() });
  },
  async uploadArrived(host, id) {
    await queueUpload(host, id);
  },
};

/** An error that ends one invocation, and that the next invocation survives. */
export function isPassing(error: unknown): boolean {
  return error instanceof Superseded || error instanceof StorageUnavailable || isRetryable(error);
}

/** Whether a publisher of this deployment has work without a mark. */
export function isOutdated(head: Json | undefined, { pageSizes, version, projections }: Settings): boolean {
  if (head === undefined) return false;
  const { renderer, projections: states } = head as unknown as HeadValue;
  const { openapi } = STATIC_BODIES[version - 1] as StaticBodies;
  const right = rendererOf({ pageSizes, projections: new Set(projections) });
  return renderer !== right || (states?.statics as { openapi?: string } | undefined)?.openapi !== openapi.digest;
}

/** A process keeps its position in the file between invocations. */
const uploadRunners = new WeakMap<Host, UploadRunner>();

function uploadRunnerOf(host: Host): UploadRunner {
  const known = uploadRunners.get(host);
  if (known !== undefined) return known;
  const runner = createUploadRunner({ ...host, limits: UPLOAD_PARTS });
  uploadRunners.set(host, runner);
  return runner;
}

function leftAfter({ isMoreDue, deferred }: PublishOutcome): Left {
  if (isMoreDue) return 'more';
  return deferred.length > 0 ? 'deferred' : 'nothing';
}

/** The findings of `verify` in a settled store. */
export async function findingsIn({ objects, settings }: Host, removed: readonly string[]): Promise<readonly string[]> {
  const { findings } = await verify(readerOf(objects), { pageSizes: settings.pageSizes, settled: true, removed });
  // Files of a kind that was switched off grow old until the next sweep; swept worlds check that none is left.
  const found = findings.filter(({ url }) => {
    const projection = fileProjectionOf(url);
    return projection === undefined || settings.projections.includes(projection);
  });
  return found.map(({ url, rule, detail }) => `${url}: ${rule}: ${detail}`);
}

/** The faults that `npm run verify:audit` finds. */
export async function auditFindingsIn({ ledger, nowMs }: Host): Promise<readonly string[]> {
  const { findings } = await verifyAudit(ledger, nowMs());
  return findings.map(({ day, id, fault, detail }) => `${day} ${id}: ${fault}: ${detail}`);
}

/** Publishes this ledger for the first time, completely. */
export async function publishAfresh(items: LedgerItems, host: Host): Promise<void> {
  for (const { sort } of items.committedIn(MARKET_INDEX)) {
    const mark = { kind: 'put', key: refreshMarkKey(sort), revision: 0, value: null, if: { kind: 'any' } } as const;
    await host.ledger.transact([mark], { attemptId: host.newAttemptId() });
  }
  while ((await WIRING.publish(host)) === 'more');
}

function publisherOf({ settings, ...host }: Host): PublisherDependencies {
  return {
    ...host,
    ...(settings.projections.includes('log') ? { log: TEST_LOG } : {}),
    projections: new Set(settings.projections),
    pageSizes: settings.pageSizes,
    staticBodies: STATIC_BODIES[settings.version - 1] as StaticBodies,
    caches: NO_CACHES,
    listEverySeconds: () => settings.listEverySeconds,
    maxMarkedMarkets: settings.maxMarkedMarkets,
    historyFileBytes: settings.historyFileBytes,
  };
}

const SECRETS = createSecrets(new Uint8Array(32).fill(7));

/** The bearer token is the name of the caller. */
function principalOf(authorization: string): Principal {
  const name = authorization.replace(/^Bearer /, '');
  const subject = name === 'operator' ? name : `account:${name}`;
  return {
    kind: 'api-key',
    markets: null,
    actor: `key:${name}`,
    subject,
    scopes: SCOPES,
    expiresAt: null,
    entitlements: { revision: null, features: {} },
  };
}

const SCOPES = new Set(ALL_SCOPES);

function readerOf(objects: ObjectStore): PublicReader {
  return async (url, headers = {}) => {
    const routed = routeRead('GET', url);
    if (routed.kind !== 'object') return { status: 400, headers: new Map(), body: new Uint8Array() };
    const found = await objects.get(routed.key);
    if (found.kind !== 'found') return { status: 404, headers: new Map(), body: new Uint8Array() };
    const fields = new Map([
      ['content-type', found.metadata.contentType],
      ['cache-control', found.metadata.cacheControl],
      ...BROWSER_FIELDS,
      ['etag', found.etag as string],
    ]);
    const isCurrent = headers['if-none-match'] === found.etag;
    return isCurrent
      ? { status: 304, headers: fields, body: new Uint8Array() }
      : { status: statusOfObject(found.metadata.contentType), headers: fields, body: found.body };
  };
}

/** A request of the write API, as the simulated clients send it. */
export function requestOf(path: string, caller: string, key: string, body: unknown): HttpEvent {
  return {
    rawPath: path,
    rawQueryString: '',
    headers: {
      authorization: `Bearer ${caller}`,
      'content-type': 'application/json',
      'idempotency-key': `simulated-request-${key}`,
    },
    requestContext: {
      http: { method: 'POST', sourceIp: '127.0.0.1' },
      requestId: `request-${key}`,
    },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  };
}
