/** The handler of each operation of the write API. An operation without a handler does not compile. */
import type { ReadOperationId, WriteOperationId } from '../contract/operations.ts';
import * as apiKeys from './accounts/api-keys.ts';
import * as entitlements from './accounts/entitlements.ts';
import * as erasures from './accounts/erasures.ts';
import * as me from './accounts/me.ts';
import * as waitlist from './accounts/waitlist-requests.ts';
import * as watchlists from './accounts/watchlists.ts';
import * as batches from './ingest/batches.ts';
import * as marketRemoval from './ingest/market-removal.ts';
import * as publications from './ingest/publications.ts';
import * as uploads from './ingest/uploads.ts';
import type { ReadHandler, WriteHandler } from './pipeline/handler.ts';
import * as audit from './review/audit-records.ts';
import * as claimant from './review/claimant.ts';
import * as claims from './review/claims.ts';
import * as reviewer from './review/reviewer.ts';
import * as sourceVerifications from './review/source-verifications.ts';

type Handlers = {
  readonly reads: { readonly [Id in ReadOperationId]: ReadHandler<Id> };
  readonly writes: { readonly [Id in WriteOperationId]: WriteHandler<Id, unknown> };
};

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
    getPublication: publications.getPublication,
    getEntitlements: entitlements.getEntitlements,
    listWaitlistRequests: waitlist.listWaitlistRequests,
    listApiKeys: apiKeys.listApiKeys,
    getErasure: erasures.getErasure,
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
    createPublication: publications.createPublication,
    putEntitlement: entitlements.putEntitlement,
    deleteEntitlement: entitlements.deleteEntitlement,
    createWaitlistRequest: waitlist.createWaitlistRequest,
    decideWaitlistRequest: waitlist.decideWaitlistRequest,
    createApiKey: apiKeys.createApiKey,
    rotateApiKey: apiKeys.rotateApiKey,
    revokeApiKey: apiKeys.revokeApiKey,
    createErasure: erasures.createErasure,
  },
};
