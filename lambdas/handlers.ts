/** The handler of each operation of the write API. An operation without a handler does not compile. */
import type { ReadOperationId, WriteOperationId } from '../contract/operations/operations.ts';
import * as entitlements from './accounts/entitlements.ts';
import * as me from './accounts/me.ts';
import * as watchlists from './accounts/watchlists.ts';
import * as batches from './ingest/batches.ts';
import * as marketRemoval from './ingest/market-removal.ts';
import * as publications from './ingest/publications.ts';
import * as uploads from './ingest/uploads.ts';
import type { ReadHandler, WriteHandler } from './pipeline/handler.ts';
import { lazyRead, lazyWrite } from './pipeline/lazy.ts';
import * as audit from './review/audit-records.ts';
import * as claimant from './review/claimant.ts';
import * as claims from './review/claims.ts';
import * as reviewer from './review/reviewer.ts';
import * as sourceVerifications from './review/source-verifications.ts';

type Handlers = {
  readonly reads: { readonly [Id in ReadOperationId]: ReadHandler<Id> };
  readonly writes: { readonly [Id in WriteOperationId]: WriteHandler<Id, unknown> };
};

const apiKeys = () => import('./accounts/api-keys.ts');
const takedowns = () => import('./ingest/takedowns.ts');
const erasures = () => import('./accounts/erasures.ts');
const waitlist = () => import('./accounts/waitlist-requests.ts');
const sources = () => import('./sources/sources.ts');
const sourceRuns = () => import('./sources/source-runs.ts');

export const handlers: Handlers = {
  reads: {
    listWatchlists: watchlists.listWatchlists,
    getWatchlist: watchlists.getWatchlist,
    listClaims: claims.listClaims,
    getClaim: claims.getClaim,
    listSourceVerifications: sourceVerifications.listSourceVerifications,
    getSourceVerification: sourceVerifications.getSourceVerification,
    getIngestBatch: batches.getIngestBatch,
    getIngestUpload: uploads.getIngestUpload,
    listSources: lazyRead(async () => (await sources()).listSources),
    getSource: lazyRead(async () => (await sources()).getSource),
    listSourceRuns: lazyRead(async () => (await sourceRuns()).listSourceRuns),
    getSourceRun: lazyRead(async () => (await sourceRuns()).getSourceRun),
    getPublication: publications.getPublication,
    listTakedowns: lazyRead(async () => (await takedowns()).listTakedowns),
    getEntitlements: entitlements.getEntitlements,
    listWaitlistRequests: lazyRead(async () => (await waitlist()).listWaitlistRequests),
    listApiKeys: lazyRead(async () => (await apiKeys()).listApiKeys),
    getErasure: lazyRead(async () => (await erasures()).getErasure),
    listAuditRecords: audit.listAuditRecords,
    getMe: me.getMe,
  },
  writes: {
    createWatchlist: watchlists.createWatchlist,
    replaceWatchlist: watchlists.replaceWatchlist,
    deleteWatchlist: watchlists.deleteWatchlist,
    addWatchlistMarket: watchlists.addWatchlistMarket,
    removeWatchlistMarket: watchlists.removeWatchlistMarket,
    createClaim: claims.createClaim,
    addClaimEvidence: claimant.addClaimEvidence,
    withdrawClaim: claimant.withdrawClaim,
    reviewClaim: reviewer.reviewClaim,
    decideClaim: reviewer.decideClaim,
    createSourceVerification: sourceVerifications.createSourceVerification,
    createIngestBatch: batches.createIngestBatch,
    createIngestUpload: uploads.createIngestUpload,
    removeMarket: marketRemoval.removeMarket,
    putSource: lazyWrite(async () => (await sources()).putSource),
    deleteSource: lazyWrite(async () => (await sources()).deleteSource),
    pauseSource: lazyWrite(async () => (await sources()).pauseSource),
    resumeSource: lazyWrite(async () => (await sources()).resumeSource),
    createSourceRun: lazyWrite(async () => (await sourceRuns()).createSourceRun),
    replaySourceRun: lazyWrite(async () => (await sourceRuns()).replaySourceRun),
    createPublication: publications.createPublication,
    createTakedown: lazyWrite(async () => (await takedowns()).createTakedown),
    putEntitlement: entitlements.putEntitlement,
    deleteEntitlement: entitlements.deleteEntitlement,
    createWaitlistRequest: lazyWrite(async () => (await waitlist()).createWaitlistRequest),
    decideWaitlistRequest: lazyWrite(async () => (await waitlist()).decideWaitlistRequest),
    createApiKey: lazyWrite(async () => (await apiKeys()).createApiKey),
    rotateApiKey: lazyWrite(async () => (await apiKeys()).rotateApiKey),
    revokeApiKey: lazyWrite(async () => (await apiKeys()).revokeApiKey),
    createErasure: lazyWrite(async () => (await erasures()).createErasure),
  },
};
