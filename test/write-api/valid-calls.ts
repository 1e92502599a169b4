/** For each operation of the write API, a call that succeeds, and the resources that it needs. */
import type { ReadOperationId, WriteOperationId } from '../../contract/operations/operations.ts';
import { OPERATIONS, operationOf } from '../../contract/operations/operations.ts';
import { newRun } from '../../lambdas/sources/source-runs.ts';
import { created } from '../../storage/ports/changes.ts';
import { runKey, uploadOfRun } from '../../storage/records/sources.ts';
import { EXAMPLE_RECIPE } from '../sources/example-recipe.ts';
import { ASSERTIONS, DESK, ingest, RECORDS } from './claim-world.ts';
import type { ApiWorld, Call } from './world.ts';

export type ApiOperationId = ReadOperationId | WriteOperationId;

export const API_OPERATIONS = Object.keys(OPERATIONS) as ApiOperationId[];

/** The names of two credentials with every scope. */
export interface Cast {
  readonly owner: string;
  readonly reviewer: string;
}

export const CAST: Cast = { owner: 'alice', reviewer: 'rita' };

/** The parts of a call. Default: those of the operation's example. */
type Parts = Pick<Call, 'as' | 'headers' | 'query' | 'body'> & { readonly params?: Readonly<Record<string, string>> };

/** Calls do not conflict with each other. */
type Prepare = (made: Maker) => Promise<Parts> | Parts;

/** Makes the resources that a call needs, through the API. */
interface Maker {
  readonly cast: Cast;
  /** Returns the id of the new resource. */
  make(id: ApiOperationId, parts?: Parts): Promise<string>;
  /** A run that has sent records, as only the runner of sources makes it. Returns its id. */
  endedRun(source: string): Promise<string>;
}

const ETAG_1 = { headers: { 'if-match': '"1"' } } as const;
const WATCHLIST = { body: { name: 'Metals' } } as const;
const CLAIM = { body: { assertion: ASSERTIONS.correction, evidence: [] } } as const;
const VERIFICATION = {
  body: {
    market: 'gold-usd',
    subject: { type: 'source', url: DESK.url },
    outcome: 'confirmed',
    verifiedAt: '2026-11-20T11:58:00Z',
  },
} as const;

const REMOVAL = { params: { slug: 'gold-usd' }, body: { reason: 'Its source has ended.' } };

async function approved(made: Maker): Promise<string> {
  const id = await made.make('createWaitlistRequest');
  await made.make('decideWaitlistRequest', { params: { id } });
  return id;
}

async function apiKey(made: Maker): Promise<string> {
  return made.make('createApiKey', await keyParts(made));
}

async function keyParts(made: Maker): Promise<Parts> {
  const body = { waitlistRequest: await approved(made), label: 'Chart', scopes: ['watchlists:read'] };
  return { body };
}

async function underReview(made: Maker): Promise<Parts> {
  const id = await made.make('createClaim', CLAIM);
  const as = made.cast.reviewer;
  await made.make('reviewClaim', { params: { id }, as, body: { action: 'start' }, headers: { 'if-match': '"1"' } });
  return { params: { id }, as, headers: { 'if-match': '"2"' } };
}

/** A call to what another one makes. */
const of =
  (id: ApiOperationId, parts: Parts = {}, more: Parts = {}): Prepare =>
  async (made) => ({ ...more, params: { ...more.params, id: await made.make(id, parts) } });

/** A new source, with a name of its own. */
const source = (name: string) => ({
  params: { name },
  body: { ...EXAMPLE_RECIPE, name },
  headers: { 'if-none-match': '*' },
});

/** A call to a source. */
const withSource =
  (name: string, parts: Parts = {}): Prepare =>
  async (made) => {
    await made.make('putSource', source(name));
    return { params: { name }, ...parts };
  };

const PREPARE: { readonly [Id in ApiOperationId]: Prepare } = {
  listWatchlists: () => ({}),
  createWatchlist: () => ({ body: { name: 'Metals', markets: ['gold-usd', 'tin-usd'] } }),
  getWatchlist: of('createWatchlist', WATCHLIST),
  replaceWatchlist: of('createWatchlist', WATCHLIST, ETAG_1),
  deleteWatchlist: of('createWatchlist', WATCHLIST, ETAG_1),
  addWatchlistMarket: of('createWatchlist', WATCHLIST, { params: { slug: 'gold-usd' } }),
  removeWatchlistMarket: of(
    'createWatchlist',
    { body: { name: 'Metals', markets: ['gold-usd'] } },
    { params: { slug: 'gold-usd' } },
  ),
  listClaims: () => ({ query: '' }),
  createClaim: () => CLAIM,
  getClaim: of('createClaim', CLAIM),
  addClaimEvidence: of('createClaim', CLAIM),
  withdrawClaim: of('createClaim', CLAIM),
  reviewClaim: async (made) => ({
    params: { id: await made.make('createClaim', CLAIM) },
    as: made.cast.reviewer,
    ...ETAG_1,
  }),
  decideClaim: underReview,
  listSourceVerifications: () => ({}),
  createSourceVerification: () => VERIFICATION,
  getSourceVerification: of('createSourceVerification', VERIFICATION),
  createIngestBatch: () => ({}),
  getIngestBatch: of('createIngestBatch'),
  createIngestUpload: () => ({}),
  getIngestUpload: of('createIngestUpload'),
  removeMarket: () => REMOVAL,
  listSources: () => ({}),
  getSource: withSource('shown'),
  putSource: () => source('added'),
  deleteSource: withSource('deleted', ETAG_1),
  pauseSource: withSource('paused'),
  resumeSource: async (made) => {
    await made.make('putSource', source('resumed'));
    const { params } = source('resumed');
    await made.make('pauseSource', { params });
    return { params };
  },
  listSourceRuns: withSource('with-runs', { query: '' }),
  createSourceRun: withSource('asked'),
  getSourceRun: async (made) => {
    await made.make('putSource', source('running'));
    const { params } = source('running');
    return { params: { ...params, run: await made.make('createSourceRun', { params }) } };
  },
  replaySourceRun: async (made) => ({ params: { name: 'replayed', run: await made.endedRun('replayed') } }),
  createPublication: () => ({}),
  getPublication: of('createPublication'),
  listTakedowns: () => ({ query: '' }),
  createTakedown: async (made) => {
    // Refused if a call before has removed it.
    await made.make('removeMarket', REMOVAL).catch(() => undefined);
    return { body: { market: REMOVAL.params.slug, reason: 'Order of a court.' } };
  },
  getEntitlements: () => ({}),
  putEntitlement: () => ({ params: { subject: 'user:bob', feature: 'watchlists' }, headers: { 'if-none-match': '*' } }),
  deleteEntitlement: async (made) => {
    const params = { subject: 'user:carol', feature: 'watchlists' };
    await made.make('putEntitlement', { params, headers: { 'if-none-match': '*' } });
    return { params, ...ETAG_1 };
  },
  listWaitlistRequests: () => ({}),
  createWaitlistRequest: () => ({}),
  decideWaitlistRequest: of('createWaitlistRequest'),
  listApiKeys: () => ({}),
  createApiKey: keyParts,
  rotateApiKey: async (made) => ({ params: { id: await apiKey(made) } }),
  revokeApiKey: async (made) => ({ params: { id: await apiKey(made) } }),
  createErasure: () => ({ body: { subject: 'user:dave' } }),
  getErasure: of('createErasure', { body: { subject: 'user:dave' } }),
  listAuditRecords: () => ({}),
  getMe: () => ({}),
};

/** The markets that the calls are about. */
export async function seedWorld(world: ApiWorld): Promise<void> {
  await ingest(world.ledger, RECORDS);
}

/** Makes the resources that the operation's call needs in a world of {@link seedWorld}. Returns the call. */
export async function validCall(world: ApiWorld, id: ApiOperationId, cast: Cast = CAST): Promise<Call> {
  const made: Maker = {
    cast,
    async make(operation, parts = {}) {
      const { status, json } = await world.call(callOf(operation, cast, parts));
      if (status >= 300) throw new Error(`${operation}, needed by ${id}: ${JSON.stringify(json)}`);
      return json?.id;
    },
    async endedRun(source) {
      const id = 'run_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
      const run = newRun({ cause: 'schedule', createdAt: new Date(world.nowMs).toISOString(), attempt: 1 });
      const ended = { ...run, state: 'ended', outcome: 'taken-in', upload: uploadOfRun(id) } as const;
      const changes = [created(runKey(source, id), ended, 1)];
      await world.ledger.transact(changes, { attemptId: 'runner' });
      return id;
    },
  };
  return callOf(id, cast, await PREPARE[id](made));
}

function callOf(id: ApiOperationId, cast: Cast, { params, ...parts }: Parts): Call {
  const { method, path, example } = operationOf(id);
  const values = { ...example.params, ...params };
  return {
    as: cast.owner,
    method,
    path: path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] as string)),
    query: new URLSearchParams(example.query).toString(),
    ...(example.body === undefined ? {} : { body: example.body }),
    ...parts,
  };
}
