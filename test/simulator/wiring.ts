/**
 * The only file of the simulator that knows how the code under test is put together: how each kind of process is built, which
 * of its errors mean "try again", and which records of the ledger say that something is due. `Wiring` holds functions, so
 * that a test can replace one of them by one with a guard switched off.
 */
import { ALL_SCOPES } from '../../contract/scopes.ts';
import { waitlistBody } from '../../contract/waitlist.ts';
import { loadRouter } from '../../embedded/edge/router-sandbox.ts';
import type { Principal } from '../../lambdas/credentials/principal.ts';
import { createCursors } from '../../lambdas/http/cursor.ts';
import type { HttpEvent, HttpResult } from '../../lambdas/http/event.ts';
import { createRateLimiter } from '../../lambdas/http/rate-limit.ts';
import { queueUpload } from '../../lambdas/ingest/queue-upload.ts';
import { createUploadRunner, type UploadRunner } from '../../lambdas/ingest/run-upload.ts';
import { createWriteApi } from '../../lambdas/pipeline/handle.ts';
import { createSecrets } from '../../lambdas/pipeline/secrets.ts';
import { mayPass } from '../../lambdas/worker/contended.ts';
import { runWork } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import type { PageSizes, PublisherDependencies } from '../../publisher/dependencies.ts';
import { BundleLost, Superseded } from '../../publisher/errors.ts';
import { staticBodies } from '../../publisher/plan/static-bodies.ts';
import { type PublishOutcome, publish } from '../../publisher/publish.ts';
import { repairOne } from '../../publisher/repair/repair-market.ts';
import { restore } from '../../publisher/repair/restore.ts';
import { collectGarbage } from '../../publisher/sweep/collect-garbage.ts';
import { NO_CACHES } from '../../publisher/tell/purge.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { StorageUnavailable } from '../../storage/errors.ts';
import type { Change, Ledger } from '../../storage/ledger.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { batchKey, WORK_PARTITION, WORK_QUEUE } from '../../storage/records/batches.ts';
import { MARKET_INDEX, marketIndexKey, OBSERVATION_PREFIX, observationsOf } from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  GENERATIONS,
  generationOfKey,
  HEAD_KEY,
  type HeadValue,
  LIST_CHANGES,
  PUT_OFF,
  REFRESH_MARKS,
  refreshMarkKey,
  SUPERSEDED_PAGES,
  WALK_KEY,
} from '../../storage/records/publication.ts';
import type { Runtime } from '../../storage/runtime.ts';
import type { UploadStore } from '../../storage/upload-store.ts';
import type { LedgerItems } from './ledger-items.ts';
import type { ShownObservation } from './published.ts';

/** What one process has of the world. */
export interface Host extends Runtime {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  readonly uploads: UploadStore;
  readonly settings: Settings;
}

/** What a deployment may say otherwise. */
export interface Settings {
  /** Between two publications of the list. */
  readonly listEverySeconds: number;
  readonly maxMarkedMarkets: number;
}

export const PLAIN: Settings = { listEverySeconds: 0, maxMarkedMarkets: 100 };

/** What is left to do after one generation: at once, soon, or when something new is due. */
export type Left = 'more' | 'put-off' | 'nothing';

export type Api = (event: HttpEvent) => Promise<HttpResult>;

export interface Wiring {
  /** Publishes one generation. */
  publish(host: Host): Promise<Left>;
  /** Works off the queue; tells `failed` of work that only a person can mend. */
  work(host: Host, hasTime: () => boolean, failed: (error: unknown) => void): Promise<void>;
  sweep(host: Host): Promise<void>;
  /** What an operator does about a copy of the ledger that may hold a part of a transaction. */
  restore(host: Host): Promise<void>;
  /** And about a market that the log of a worker names. */
  repair(host: Host, market: string): Promise<void>;
  openApi(host: Host): Api;
  /** The content of an upload has arrived. */
  uploadArrived(host: Host, id: string): Promise<void>;
}

/** Small, so that a handful of markets has several pages. */
export const PAGE_SIZES: PageSizes = { markets: 3, observations: 4 };
export const START_MS = Date.parse('2026-10-01T12:00:00Z');

const STATIC_BODIES = staticBodies({
  waitlist: waitlistBody({ email: 'keys@tidemark.test' }),
  openapi: { openapi: '3.1.0', info: { title: 'Tidemark', version: '1' }, paths: { '/api/v1/markets': {} } },
});

const UPLOAD_PARTS = { maxLines: 3, maxBytes: 1024 * 1024, maxLineBytes: 128 * 1024 };

export const WIRING: Wiring = {
  async publish(host) {
    return leftAfter(await publish(publisherOf(host)));
  },
  async work(host, hasTime, failed) {
    await runWork({
      ...host,
      owner: host.newAttemptId(),
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
        maxCredentials: 100,
      }),
      cursors: createCursors(SECRETS.cursorKey),
      log: () => undefined,
    });
    return async (event) => (await handle(event)).result;
  },
  async uploadArrived(host, id) {
    await queueUpload(host, id);
  },
};

/** An error that the code under test ends an invocation with, and that the next invocation gets over. */
export function isPassing(error: unknown): boolean {
  return error instanceof Superseded || error instanceof StorageUnavailable || mayPass(error);
}

/** A process keeps its place in the file from one invocation to the next. */
const uploadRunners = new WeakMap<Host, UploadRunner>();

function uploadRunnerOf(host: Host): UploadRunner {
  const known = uploadRunners.get(host);
  if (known !== undefined) return known;
  const runner = createUploadRunner({ ...host, limits: UPLOAD_PARTS });
  uploadRunners.set(host, runner);
  return runner;
}

function leftAfter({ isMoreDue, putOff }: PublishOutcome): Left {
  if (isMoreDue) return 'more';
  return putOff.length > 0 ? 'put-off' : 'nothing';
}

/** What publishers say who go on while HEAD is being raised. */
export function isOfRestore(error: unknown): boolean {
  return error instanceof BundleLost;
}

/** What waits for a publisher, and for a worker. */
export interface Due {
  readonly publishing: readonly string[];
  readonly working: readonly string[];
}

/** What the committed ledger says is left to do. */
export function dueIn(items: LedgerItems): Due {
  const head = items.committed(HEAD_KEY)?.value as HeadValue | undefined;
  const ranges = [FRESH_MARKS, REFRESH_MARKS, AWAITING_GENERATION, LIST_CHANGES, PUT_OFF];
  return {
    publishing: [
      ...ranges.flatMap((range) => items.committedIn(range).map(({ sort }) => `${range.partition} ${sort}`)),
      ...(head === undefined ? [] : leftOf(head)),
    ],
    working: items.committedIn(WORK_QUEUE).map(({ sort }) => sort),
  };
}

function leftOf({ applied, generation, list }: HeadValue): readonly string[] {
  return [
    ...(applied ? [] : [`generation ${generation} is not applied`]),
    ...(list.shows === generation ? [] : [`the list shows generation ${list.shows} of ${generation}`]),
    ...(list.isDoubtful ? ['the list is doubtful'] : []),
  ];
}

/** Whom a committed change rings for: the publisher for each mark, the worker for what was not on the queue before. */
export function rungBy(changes: readonly Change[]): { readonly publishing: boolean; readonly working: boolean } {
  const puts = changes.filter((change) => change.kind === 'put');
  const ringing = [FRESH_MARKS.partition, AWAITING_GENERATION.partition];
  return {
    publishing: puts.some(({ key }) => ringing.includes(key.partition)),
    working: puts.some(({ key, revision }) => key.partition === WORK_PARTITION && revision === 0),
  };
}

/** Batches that these changes tell to be public. */
export function batchesAnsweredBy(changes: readonly Change[]): readonly string[] {
  const { partition } = generationOfKey('');
  return changes.flatMap(({ kind, key }) =>
    kind === 'put' && key.partition === partition && key.sort.startsWith('batch/')
      ? [key.sort.slice('batch/'.length)]
      : [],
  );
}

/** Batches of which these changes are a part: they are taken in, worked off, or told to be public. */
export function batchesOf(changes: readonly Change[]): readonly string[] {
  const names = changes.flatMap(({ key: { partition, sort } }) => {
    if (partition.startsWith('batch/')) return [partition.slice('batch/'.length)];
    const isAnswer = partition === AWAITING_GENERATION.partition || partition === generationOfKey('-').partition;
    return isAnswer && sort.startsWith('batch/') ? [sort.slice('batch/'.length)] : [];
  });
  return [...new Set(names)];
}

export function isMarket(items: LedgerItems, slug: string): boolean {
  return items.committed(marketIndexKey(slug)) !== null;
}

export function isAccepted(items: LedgerItems, batch: string): boolean {
  return items.committed(batchKey(batch)) !== null;
}

export function isAnswered(items: LedgerItems, batch: string): boolean {
  return items.committed(generationOfKey(`batch/${batch}`)) !== null;
}

/** The observations of a market, as the ledger has them, newest first. */
export function historyIn(items: LedgerItems, market: string): readonly ShownObservation[] {
  const found = items.committedIn(observationsOf(market));
  return found.map(({ value }) => value as unknown as ShownObservation).reverse();
}

/** The market to which this transaction adds observations; null where it is no such transaction. */
export function marketWrittenBy(changes: readonly Change[]): string | null {
  const observation = changes.find(({ key }) => key.sort.startsWith(OBSERVATION_PREFIX));
  return observation?.key.partition.slice('market/'.length) ?? null;
}

/** What `verify` finds in a store at rest. */
export async function findingsIn(objects: ObjectStore): Promise<readonly string[]> {
  const { findings } = await verify(readerOf(objects), { pageSizes: PAGE_SIZES, settled: true });
  return findings.map(({ url, rule, detail }) => `${url}: ${rule}: ${detail}`);
}

/** The ledger as it would be had nothing ever been published. */
export function withoutPublication(items: LedgerItems): LedgerItems {
  const ofPublication = [HEAD_KEY, GENERATIONS, LIST_CHANGES, SUPERSEDED_PAGES, WALK_KEY, PUT_OFF];
  const names = new Set(ofPublication.map(({ partition }) => partition));
  return items.copy((partition) => !names.has(partition) && !partition.startsWith('published/'));
}

/** Publishes such a ledger, for the first time and whole. */
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
    pageSizes: PAGE_SIZES,
    staticBodies: STATIC_BODIES,
    caches: NO_CACHES,
    listEverySeconds: () => settings.listEverySeconds,
    maxMarkedMarkets: settings.maxMarkedMarkets,
  };
}

const SECRETS = createSecrets(new Uint8Array(32).fill(7));

/** The bearer token is the name of whoever calls. */
function principalOf(authorization: string): Principal {
  const name = authorization.replace(/^Bearer /, '');
  const subject = name === 'operator' ? name : `account:${name}`;
  return {
    kind: 'api-key',
    actor: `key:${name}`,
    subject,
    scopes: SCOPES,
    expiresAt: null,
    entitlements: { revision: null, features: {} },
  };
}

const SCOPES = new Set(ALL_SCOPES);

const route = loadRouter();

function readerOf(objects: ObjectStore): PublicReader {
  return async (url, headers = {}) => {
    const routed = route('GET', url);
    if (routed.kind !== 'object') return { status: 400, headers: new Map(), body: new Uint8Array() };
    const found = await objects.get(routed.key);
    if (found.kind !== 'found') return { status: 404, headers: new Map(), body: new Uint8Array() };
    const fields = new Map([
      ['content-type', found.metadata.contentType],
      ['cache-control', found.metadata.cacheControl],
      ['etag', found.etag as string],
    ]);
    const isCurrent = headers['if-none-match'] === found.etag;
    return isCurrent
      ? { status: 304, headers: fields, body: new Uint8Array() }
      : { status: 200, headers: fields, body: found.body };
  };
}
