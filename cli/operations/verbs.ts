/** The verb of each operation of the write API. A new operation does not compile until it has one. */
import type { OperationId } from '../../contract/operations/operations.ts';

export const VERBS = {
  listWatchlists: 'watchlists list',
  createWatchlist: 'watchlists create',
  getWatchlist: 'watchlists show',
  replaceWatchlist: 'watchlists replace',
  deleteWatchlist: 'watchlists delete',
  addWatchlistMarket: 'watchlists add-market',
  removeWatchlistMarket: 'watchlists remove-market',
  listClaims: 'claims list',
  createClaim: 'claims create',
  getClaim: 'claims show',
  addClaimEvidence: 'claims add-evidence',
  withdrawClaim: 'claims withdraw',
  reviewClaim: 'claims review',
  decideClaim: 'claims decide',
  listSourceVerifications: 'source-verifications list',
  createSourceVerification: 'source-verifications create',
  getSourceVerification: 'source-verifications show',
  createIngestBatch: 'ingest',
  getIngestBatch: 'batches show',
  createIngestUpload: 'ingest',
  getIngestUpload: 'uploads show',
  listSources: 'sources list',
  getSource: 'sources show',
  putSource: 'sources add',
  deleteSource: 'sources remove',
  pauseSource: 'sources pause',
  resumeSource: 'sources resume',
  listSourceRuns: 'sources runs',
  createSourceRun: 'sources run',
  getSourceRun: 'sources runs',
  replaySourceRun: 'sources replay',
  createPublication: 'publish',
  getPublication: 'publications show',
  listTakedowns: 'takedowns list',
  createTakedown: 'takedowns create',
  getEntitlements: 'entitlements list',
  putEntitlement: 'entitlements set',
  deleteEntitlement: 'entitlements delete',
  listWaitlistRequests: 'waitlist list',
  createWaitlistRequest: 'waitlist create',
  decideWaitlistRequest: 'waitlist decide',
  listApiKeys: 'keys list',
  removeMarket: 'removals create',
  createApiKey: 'keys create',
  rotateApiKey: 'keys rotate',
  revokeApiKey: 'keys revoke',
  createErasure: 'erasures create',
  getErasure: 'erasures show',
  listAuditRecords: 'audit search',
  getMe: 'me',
} as const satisfies Readonly<Record<OperationId, string>>;

/** Verbs, and groups of verbs, whose code is hand-written. */
const WRITTEN_BY_HAND: readonly string[] = ['ingest', 'publish', 'sources'];

/** The operations whose commands are derived from their row in the table of operations. */
export const GENERATED = (Object.keys(VERBS) as OperationId[]).filter(
  (id) => !WRITTEN_BY_HAND.includes(VERBS[id].split(' ')[0] as string),
);

/** Verbs that ask for confirmation, each with its irreversible consequence. */
export const CONSEQUENCES: Readonly<Partial<Record<OperationId, string>>> = {
  deleteWatchlist: 'the watchlist and its list of markets are gone for good.',
  withdrawClaim: 'a withdrawn claim cannot be taken up again.',
  removeMarket:
    'the market leaves the list for good, its slug can never be used again, and --replaced-by cannot be added later.',
  createTakedown: 'the texts leave the public log for good, and nothing puts them back.',
  deleteEntitlement: 'the grant ends at once, and the default limit applies.',
  revokeApiKey: 'the key is refused for good.',
  createErasure: "all of this person's data is erased for good, and their keys are revoked.",
};

/** More examples, besides the generated one. */
export const MORE_EXAMPLES: Readonly<Partial<Record<OperationId, string>>> = {
  createApiKey:
    "\n\nA second key of the operators:\n  tidemark keys create --operator --label 'Second operator' --scopes keys:admin,audit:read",
};

export const GROUPS = {
  watchlists: 'your watchlists',
  claims: 'claims about markets, and their review',
  'source-verifications': 'results of comparing sources with published values',
  batches: 'reports on ingest batches',
  uploads: 'states of large files',
  publications: 'markets that are published again (tidemark publish)',
  takedowns: 'entries of removed markets that left the public log',
  removals: 'markets that are removed for good',
  entitlements: 'limits of subjects',
  waitlist: 'requests for API keys',
  keys: 'API keys',
  erasures: "erasing a person's data",
  audit: 'who wrote what',
} as const satisfies Readonly<Record<string, string>>;
