/**
 * The ledger's partitions in the form that policies use: from storage/records/, with `*` for a variable rest. IAM can
 * decide by partition, because the partition is the table's hash key.
 */
import {
  API_KEYS,
  answersOf,
  entitlementsKey,
  erasureKey,
  FIRST_KEY_KEY,
  usageOf,
  WAITLIST,
  watchlistsOf,
} from '../../storage/records/accounts.ts';
import { AUDIT_SEAL_PARTS, AUDIT_SEALS, auditOfActor, auditOfDay, auditOfTarget } from '../../storage/records/audit.ts';
import { batchPartition, WORK_QUEUE } from '../../storage/records/batches.ts';
import { COMPAT_DAY_KEY } from '../../storage/records/compat.ts';
import { EXPORT_DAYS, EXPORT_FILES } from '../../storage/records/exports.ts';
import { FORMAT_KEY } from '../../storage/records/formats.ts';
import { INCIDENTS_KEY } from '../../storage/records/incidents.ts';
import { logChunksOf, logHashesKey } from '../../storage/records/log.ts';
import { ANNOUNCED_MARKETS, MARKET_INDEX, marketPartition } from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  DEFERRED,
  FILES_BEHIND,
  FRESH_MARKS,
  GENERATIONS,
  generationOfKey,
  HEAD_KEY,
  LIST_CHANGES,
  PUBLISHED_SITE_KEY,
  publicationKey,
  publishedHeadsKey,
  SUPERSEDED_PAGES,
  WALK_KEY,
} from '../../storage/records/publication.ts';
import {
  claimKey,
  claimsInState,
  claimsOfSubject,
  VERIFICATIONS,
  verificationsOfMarket,
} from '../../storage/records/review.ts';
import { RUN_WORK, runsOfSource, SOURCE_STATES, SOURCES } from '../../storage/records/sources.ts';
import { DUE_TAKEDOWNS, TAKEDOWNS } from '../../storage/records/takedowns.ts';

const ANY = '*';
/** The pattern of a range's partitions. */
const sharesOf = ({ shards: [first = ''] }: { readonly shards: readonly string[] }) => first.replace(/[^/]+$/, ANY);

export const PARTITIONS = {
  announced: ANNOUNCED_MARKETS.partition,
  apiKeys: API_KEYS.partition,
  auditByActor: auditOfActor(ANY).partition,
  /** `*` stands for the day, and for the shards of a day. */
  auditByDay: auditOfDay(ANY).shards.at(-1) ?? '',
  /** Records that the service itself writes. */
  auditBySystem: auditOfActor(`system:${ANY}`).partition,
  auditSeals: AUDIT_SEALS.partition,
  auditSealParts: AUDIT_SEAL_PARTS.partition,
  auditByTarget: auditOfTarget(ANY).partition,
  awaitingGeneration: sharesOf(AWAITING_GENERATION),
  batches: batchPartition(ANY),
  claims: claimKey(ANY).partition,
  claimsByState: claimsInState(ANY as Parameters<typeof claimsInState>[0]).partition,
  claimsBySubject: claimsOfSubject(ANY).partition,
  entitlements: entitlementsKey(ANY).partition,
  erasures: erasureKey('').partition,
  exportFiles: EXPORT_FILES.partition,
  /** Exports: their parts and days. */
  exports: EXPORT_DAYS.partition,
  compat: COMPAT_DAY_KEY.partition,
  filesBehind: FILES_BEHIND.partition,
  firstKey: FIRST_KEY_KEY.partition,
  format: FORMAT_KEY.partition,
  generationOf: generationOfKey(ANY).partition,
  generations: GENERATIONS.partition,
  head: HEAD_KEY.partition,
  incidents: INCIDENTS_KEY.partition,
  idempotency: answersOf(ANY).partition,
  listChanges: sharesOf(LIST_CHANGES),
  logEntries: logChunksOf(0).partition.replace(/0$/, ANY),
  logHashes: logHashesKey(1, 0).partition,
  market: marketPartition(ANY),
  marketIndex: MARKET_INDEX.partition,
  /** Fresh marks and refresh marks. */
  marks: sharesOf(FRESH_MARKS),
  publications: publicationKey('').partition,
  published: publishedHeadsKey(ANY).partition,
  publishedSite: PUBLISHED_SITE_KEY.partition,
  deferred: DEFERRED.partition,
  sourceRuns: runsOfSource(ANY).partition,
  sources: SOURCES.partition,
  sourceStates: SOURCE_STATES.partition,
  sourceWork: RUN_WORK.partition,
  supersededPages: SUPERSEDED_PAGES.partition,
  takedowns: TAKEDOWNS.partition,
  /** Large files, without other batches. */
  uploads: batchPartition(`upl_${ANY}`),
  takedownsDue: DUE_TAKEDOWNS.partition,
  sweep: WALK_KEY.partition,
  usage: usageOf(ANY).partition,
  verifications: VERIFICATIONS.partition,
  verificationsByMarket: verificationsOfMarket(ANY).partition,
  waitlist: WAITLIST.partition,
  watchlists: watchlistsOf(ANY).partition,
  work: sharesOf(WORK_QUEUE),
} as const;
