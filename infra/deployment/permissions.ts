/**
 * The permissions of each function: least privilege as data. The table's items are grouped by partition (storage/records/),
 * so IAM decides for each kind of record. Tests compare these permissions with the code's own requests.
 *
 * IAM cannot distinguish a put that creates from a put that replaces. So if foreign code ran in a function that may put
 * audit records, it could replace one; the ledger's adapter refuses that. The table's own policy denies all other changes
 * of audit records to every role (audit-policy.ts).
 */

import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { ARCHIVE_PREFIX, COPY_PREFIX, UPLOADS_PREFIX } from '../../storage/aws/names.ts';
import {
  API_KEYS,
  answersOf,
  ERASURES,
  entitlementsKey,
  FIRST_KEY_KEY,
  usageOf,
  WAITLIST,
  watchlistsOf,
} from '../../storage/records/accounts.ts';
import { AUDIT_SEAL_PARTS, AUDIT_SEALS, auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { batchPartition, WORK_QUEUE } from '../../storage/records/batches.ts';
import { COMPAT_PARTS } from '../../storage/records/compat.ts';
import { EXPORT_DAYS, EXPORT_FILES } from '../../storage/records/exports.ts';
import { MOVED_PARTITIONS } from '../../storage/records/format-3.ts';
import { FORMAT_KEY } from '../../storage/records/formats.ts';
import { INCIDENTS_KEY } from '../../storage/records/incidents.ts';
import { LOG_HASHES } from '../../storage/records/log.ts';
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
import { AUDIT_BY_DAY, AUDIT_BY_SYSTEM, LOG_ENTRIES, type Partitions, UPLOADS } from './partitions.ts';

export const FUNCTION_NAMES = [
  'write-api',
  'worker',
  'upload-arrived',
  'sources',
  'publish',
  'verify',
  'collect-garbage',
  'export',
  'repair',
  'first-key',
] as const;

/** Exist only in a deployment with a second region. */
const IN_TWO_REGIONS = ['copy'] as const;

export const ALL_FUNCTION_NAMES = [...FUNCTION_NAMES, ...IN_TWO_REGIONS] as const;

/** The name of a function, which is also the name of its bundle. */
export type FunctionName = (typeof ALL_FUNCTION_NAMES)[number];

/** The functions of one deployment. */
export function functionsOf({ secondRegion }: { readonly secondRegion?: string | undefined }): readonly FunctionName[] {
  return secondRegion === undefined ? FUNCTION_NAMES : ALL_FUNCTION_NAMES;
}

/** An absent member allows nothing. The same is true for the other tables of this file. */
export interface TableAccess {
  /** Get, query, and condition checks in a transaction. */
  readonly read?: Partitions;
  readonly put?: Partitions;
  /** Additions to counters. */
  readonly count?: Partitions;
  readonly delete?: Partitions;
}

export interface ObjectAccess {
  /**
   * Prefixes of keys that may be read. With a read permission, all keys may be listed: otherwise a missing object would
   * give 403 instead of 404.
   */
  readonly read?: readonly string[];
  readonly put?: readonly string[];
  readonly delete?: readonly string[];
  /** Objects whose tags may be set. The bucket of uploads expires objects by their tag. */
  readonly tag?: readonly string[];
}

export interface Access {
  readonly table?: TableAccess;
  readonly publicObjects?: ObjectAccess;
  /** The bucket of the second region. */
  readonly secondObjects?: ObjectAccess;
  readonly uploads?: ObjectAccess;
  /** The secret that authenticates cursors and seals stored answers, and the secrets that the write host sends. */
  readonly secret?: true;
  /** Purges of the CDN. */
  readonly invalidate?: true;
  /** Signatures of the log. */
  readonly signLog?: true;
}

/** Redo bundles and layouts are outside the prefix that readers can reach. */
export const REDO_OBJECTS = 'redo/*';
export const LAYOUT_OBJECTS = 'layout/*';

const PUBLIC_OBJECTS = `${PUBLIC_PREFIX}/*`;
const EXPORT_OBJECTS = `${PUBLIC_PREFIX}/api/v1/exports/*`;
const COMPAT_OBJECTS = `${PUBLIC_PREFIX}/api/v1/compat/*`;
const COPY_OBJECTS = `${COPY_PREFIX}*`;
const UPLOADED_OBJECTS = `${UPLOADS_PREFIX}*`;
const ARCHIVED_OBJECTS = `${ARCHIVE_PREFIX}*`;

/** The format of the ledger. The last two are read only if the ledger has no record of its format. */
const FORMAT_READS: Partitions = [FORMAT_KEY, GENERATIONS, MARKET_INDEX];

/** The records from which public bodies are rendered. Entitlements, keys, contacts and audit records are not among them. */
const PUBLISHER_READS: Partitions = [
  ...FORMAT_READS,
  AWAITING_GENERATION,
  generationOfKey,
  HEAD_KEY,
  LIST_CHANGES,
  LOG_ENTRIES,
  LOG_HASHES,
  marketPartition,
  FRESH_MARKS,
  publicationKey,
  publishedHeadsKey,
  DEFERRED,
  // When each source was fetched.
  SOURCE_STATES,
  SUPERSEDED_PAGES,
  TAKEDOWNS,
  DUE_TAKEDOWNS,
];

/** Claims, and what they have verified. */
const REVIEW: Partitions = [claimKey, claimsInState, claimsOfSubject, VERIFICATIONS, verificationsOfMarket];

/** The records that a request can write. Records of the publisher are not among them. */
const WRITE_API_PUTS: Partitions = [
  // Accepting a claim may retract an announced value.
  ANNOUNCED_MARKETS,
  API_KEYS,
  auditOfActor,
  AUDIT_BY_DAY,
  auditOfTarget,
  AWAITING_GENERATION,
  batchPartition,
  ...REVIEW,
  entitlementsKey,
  ERASURES,
  answersOf,
  marketPartition,
  FRESH_MARKS,
  publicationKey,
  runsOfSource,
  SOURCES,
  SOURCE_STATES,
  RUN_WORK,
  TAKEDOWNS,
  DUE_TAKEDOWNS,
  WAITLIST,
  watchlistsOf,
  WORK_QUEUE,
];

export const ACCESS: { readonly [Name in FunctionName]: Access } = {
  'write-api': {
    table: {
      read: [...FORMAT_READS, ...WRITE_API_PUTS, generationOfKey, usageOf],
      put: WRITE_API_PUTS,
      count: [usageOf],
      delete: [ANNOUNCED_MARKETS, claimsInState, claimsOfSubject, SOURCES, SOURCE_STATES, watchlistsOf],
    },
    // For signing upload URLs: a signed URL carries this permission for its key.
    uploads: { put: [UPLOADED_OBJECTS] },
    secret: true,
  },
  worker: {
    table: {
      read: [
        ...FORMAT_READS,
        ANNOUNCED_MARKETS,
        API_KEYS,
        AUDIT_BY_DAY,
        AUDIT_SEALS,
        AUDIT_SEAL_PARTS,
        batchPartition,
        ...REVIEW,
        entitlementsKey,
        ERASURES,
        answersOf,
        marketPartition,
        usageOf,
        watchlistsOf,
        WORK_QUEUE,
      ],
      put: [
        ANNOUNCED_MARKETS,
        API_KEYS,
        AUDIT_BY_DAY,
        AUDIT_BY_SYSTEM,
        AUDIT_SEALS,
        AUDIT_SEAL_PARTS,
        auditOfTarget,
        AWAITING_GENERATION,
        batchPartition,
        ...REVIEW,
        entitlementsKey,
        ERASURES,
        // When a ledger is used for the first time.
        FORMAT_KEY,
        marketPartition,
        MARKET_INDEX,
        FRESH_MARKS,
        // A lease is written into its work item.
        WORK_QUEUE,
      ],
      delete: [
        ...[ANNOUNCED_MARKETS, claimsInState, claimsOfSubject, answersOf],
        ...[usageOf, watchlistsOf, WORK_QUEUE],
      ],
    },
    uploads: { read: [UPLOADED_OBJECTS], tag: [UPLOADED_OBJECTS] },
  },
  'upload-arrived': {
    table: {
      read: [...FORMAT_READS, API_KEYS, ERASURES, UPLOADS],
      put: [UPLOADS, WORK_QUEUE],
    },
    // HEAD of an object needs a read permission.
    uploads: { read: [UPLOADED_OBJECTS], tag: [UPLOADED_OBJECTS] },
  },
  // It sends requests to servers of others, so it can read no account, key, audit record or batch. It changes markets only by
  // files that the worker checks and applies.
  sources: {
    table: {
      read: [...FORMAT_READS, runsOfSource, SOURCES, SOURCE_STATES, RUN_WORK, UPLOADS],
      put: [runsOfSource, SOURCE_STATES, RUN_WORK, UPLOADS, WORK_QUEUE],
      delete: [RUN_WORK],
    },
    uploads: { read: [UPLOADED_OBJECTS, ARCHIVED_OBJECTS], put: [UPLOADED_OBJECTS, ARCHIVED_OBJECTS] },
  },
  publish: {
    table: {
      read: [...PUBLISHER_READS, FILES_BEHIND, INCIDENTS_KEY, PUBLISHED_SITE_KEY],
      put: [
        COMPAT_PARTS,
        FILES_BEHIND,
        FORMAT_KEY,
        generationOfKey,
        GENERATIONS,
        HEAD_KEY,
        INCIDENTS_KEY,
        LIST_CHANGES,
        LOG_ENTRIES,
        LOG_HASHES,
        publishedHeadsKey,
        PUBLISHED_SITE_KEY,
        DEFERRED,
        SUPERSEDED_PAGES,
        TAKEDOWNS,
        // For marking all markets for a refresh.
        WORK_QUEUE,
      ],
      delete: [
        ...[AWAITING_GENERATION, FILES_BEHIND, LIST_CHANGES, FRESH_MARKS],
        ...[publishedHeadsKey, DEFERRED, SUPERSEDED_PAGES, DUE_TAKEDOWNS],
      ],
    },
    publicObjects: {
      read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      put: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      // For deleting its own bundle after it was applied. The publisher cannot delete an object that readers can reach.
      delete: [REDO_OBJECTS],
    },
    invalidate: true,
    signLog: true,
  },
  // It reads only the public URLs, as readers do.
  verify: {},
  'collect-garbage': {
    table: {
      read: [
        ...FORMAT_READS,
        ...[
          COMPAT_PARTS,
          EXPORT_FILES,
          EXPORT_DAYS,
          HEAD_KEY,
          LIST_CHANGES,
          publishedHeadsKey,
          PUBLISHED_SITE_KEY,
          SUPERSEDED_PAGES,
          WALK_KEY,
        ],
      ],
      // The position where its next walk begins.
      put: [WALK_KEY],
      // HEAD has a separate partition, so the sweep cannot delete it.
      delete: [EXPORT_FILES, EXPORT_DAYS, GENERATIONS, SUPERSEDED_PAGES],
    },
    publicObjects: {
      read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      // For putting back what was published again while its delete request was on its way.
      put: [PUBLIC_OBJECTS],
      delete: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
    },
    secondObjects: { read: [PUBLIC_OBJECTS], put: [PUBLIC_OBJECTS], delete: [PUBLIC_OBJECTS] },
  },
  // It reads the log, the definitions of markets, and public bodies. It can put only exports and files for other programs.
  export: {
    table: {
      read: [...FORMAT_READS, EXPORT_FILES, EXPORT_DAYS, COMPAT_PARTS, HEAD_KEY, LOG_ENTRIES, marketPartition],
      put: [EXPORT_FILES, EXPORT_DAYS, COMPAT_PARTS],
      // The requests to make objects again.
      delete: [COMPAT_PARTS, EXPORT_DAYS],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, LAYOUT_OBJECTS], put: [EXPORT_OBJECTS, COMPAT_OBJECTS] },
  },
  // It changes nothing in the first region.
  copy: {
    table: { read: [...FORMAT_READS, HEAD_KEY] },
    publicObjects: { read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS] },
    secondObjects: {
      read: [PUBLIC_OBJECTS, COPY_OBJECTS],
      put: [PUBLIC_OBJECTS, COPY_OBJECTS],
      delete: [COPY_OBJECTS],
    },
  },
  // Invoked by hand only. It changes the ledger; the publisher then publishes the change.
  repair: {
    table: {
      read: [...PUBLISHER_READS, ...MOVED_PARTITIONS, ANNOUNCED_MARKETS, WORK_QUEUE],
      put: [
        ...[ANNOUNCED_MARKETS, GENERATIONS, HEAD_KEY, marketPartition, MARKET_INDEX, FRESH_MARKS],
        // For the migration.
        ...[AWAITING_GENERATION, FORMAT_KEY, generationOfKey, LIST_CHANGES, WORK_QUEUE],
      ],
      // Observations of a market without a record, because their market is undefined; items that wait for a revision that
      // no market has; and items that a migration moves to other keys.
      delete: [AWAITING_GENERATION, marketPartition, MARKET_INDEX, FRESH_MARKS, DEFERRED, ...MOVED_PARTITIONS],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS] },
  },
  'first-key': {
    table: {
      read: [API_KEYS, FIRST_KEY_KEY],
      put: [API_KEYS, AUDIT_BY_DAY, AUDIT_BY_SYSTEM, auditOfTarget, FIRST_KEY_KEY],
    },
  },
};
