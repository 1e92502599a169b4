/**
 * The ledger's partitions as policies name them: from storage/records/, with `*` for a variable rest. IAM decides by
 * partition, because the partition is the table's hash key.
 */
import {
  API_KEYS_PARTITION,
  entitlementsKey,
  erasureKey,
  FIRST_KEY_KEY,
  idempotencyPartition,
  usagePartition,
  WAITLIST_PARTITION,
  watchlistsPartition,
} from '../storage/records/accounts.ts';
import { batchPartition, WORK_PARTITION } from '../storage/records/batches.ts';
import { OLD_LIST_PAGES, OLD_SUPERSEDED_PAGES, oldRangesOf } from '../storage/records/format-1.ts';
import { FORMAT_KEY } from '../storage/records/formats.ts';
import { MARKETS_PARTITION, marketPartition } from '../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  GENERATIONS,
  generationOfKey,
  HEAD_KEY,
  LIST_CHANGES,
  PUT_OFF,
  publicationKey,
  publishedHeadsKey,
  SUPERSEDED_PAGES,
  WALK_KEY,
} from '../storage/records/publication.ts';
import {
  auditActorPartition,
  auditTargetPartition,
  claimKey,
  claimsInStatePartition,
  claimsOfSubjectPartition,
  VERIFICATIONS_PARTITION,
  verificationsOfMarketPartition,
} from '../storage/records/review.ts';

const ANY = '*';

export const PARTITIONS = {
  apiKeys: API_KEYS_PARTITION,
  auditByActor: auditActorPartition(ANY),
  /** Written by the service itself. */
  auditBySystem: auditActorPartition(`system:${ANY}`),
  auditByTarget: auditTargetPartition(ANY),
  awaitingGeneration: AWAITING_GENERATION.partition,
  batches: batchPartition(ANY),
  claims: claimKey(ANY).partition,
  claimsByState: claimsInStatePartition(ANY as Parameters<typeof claimsInStatePartition>[0]),
  claimsBySubject: claimsOfSubjectPartition(ANY),
  entitlements: entitlementsKey(ANY).partition,
  erasures: erasureKey('').partition,
  firstKey: FIRST_KEY_KEY.partition,
  format: FORMAT_KEY.partition,
  generationOf: generationOfKey('').partition,
  generations: GENERATIONS.partition,
  head: HEAD_KEY.partition,
  idempotency: idempotencyPartition(ANY),
  listChanges: LIST_CHANGES.partition,
  market: marketPartition(ANY),
  marketIndex: MARKETS_PARTITION,
  /** Both lanes. */
  marks: FRESH_MARKS.partition,
  publications: publicationKey('').partition,
  published: publishedHeadsKey(ANY).partition,
  putOff: PUT_OFF.partition,
  supersededPages: SUPERSEDED_PAGES.partition,
  sweep: WALK_KEY.partition,
  usage: usagePartition(ANY),
  verifications: VERIFICATIONS_PARTITION,
  verificationsByMarket: verificationsOfMarketPartition(ANY),
  waitlist: WAITLIST_PARTITION,
  watchlists: watchlistsPartition(ANY),
  work: WORK_PARTITION,
} as const;

/** Partitions that only format 1 had: its migration removes their items. */
export const OLD_PARTITIONS: readonly string[] = [
  OLD_LIST_PAGES.partition,
  OLD_SUPERSEDED_PAGES.partition,
  oldRangesOf(ANY).partition,
];
