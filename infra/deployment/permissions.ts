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
import { MOVED_PARTITIONS } from '../../storage/records/format-3.ts';
import { PARTITIONS as P } from './partitions.ts';

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

/** Partitions of the ledger; `*` stands for a variable rest. */
type Partitions = readonly string[];

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
const FORMAT_READS: Partitions = [P.format, P.generations, P.marketIndex];

/** The records from which public bodies are rendered. Entitlements, keys, contacts and audit records are not among them. */
const PUBLISHER_READS: Partitions = [
  ...FORMAT_READS,
  P.awaitingGeneration,
  P.generationOf,
  P.head,
  P.listChanges,
  P.logEntries,
  P.logHashes,
  P.market,
  P.marks,
  P.publications,
  P.published,
  P.deferred,
  // When each source was fetched.
  P.sourceStates,
  P.supersededPages,
  P.takedowns,
  P.takedownsDue,
];

/** Claims, and what they have verified. */
const REVIEW: Partitions = [P.claims, P.claimsByState, P.claimsBySubject, P.verifications, P.verificationsByMarket];

/** The records that a request can write. Records of the publisher are not among them. */
const WRITE_API_PUTS: Partitions = [
  // Accepting a claim may retract an announced value.
  P.announced,
  P.apiKeys,
  P.auditByActor,
  P.auditByDay,
  P.auditByTarget,
  P.awaitingGeneration,
  P.batches,
  ...REVIEW,
  P.entitlements,
  P.erasures,
  P.idempotency,
  P.market,
  P.marks,
  P.publications,
  P.sourceRuns,
  P.sources,
  P.sourceStates,
  P.sourceWork,
  P.takedowns,
  P.takedownsDue,
  P.waitlist,
  P.watchlists,
  P.work,
];

export const ACCESS: { readonly [Name in FunctionName]: Access } = {
  'write-api': {
    table: {
      read: [...FORMAT_READS, ...WRITE_API_PUTS, P.generationOf, P.usage],
      put: WRITE_API_PUTS,
      count: [P.usage],
      delete: [P.announced, P.claimsByState, P.claimsBySubject, P.sources, P.sourceStates, P.watchlists],
    },
    // For signing upload URLs: a signed URL carries this permission for its key.
    uploads: { put: [UPLOADED_OBJECTS] },
    secret: true,
  },
  worker: {
    table: {
      read: [
        ...FORMAT_READS,
        P.announced,
        P.apiKeys,
        P.auditByDay,
        P.auditSeals,
        P.auditSealParts,
        P.batches,
        ...REVIEW,
        P.entitlements,
        P.erasures,
        P.idempotency,
        P.market,
        P.usage,
        P.watchlists,
        P.work,
      ],
      put: [
        P.announced,
        P.apiKeys,
        P.auditByDay,
        P.auditBySystem,
        P.auditSeals,
        P.auditSealParts,
        P.auditByTarget,
        P.awaitingGeneration,
        P.batches,
        ...REVIEW,
        P.entitlements,
        P.erasures,
        // When a ledger is used for the first time.
        P.format,
        P.market,
        P.marketIndex,
        P.marks,
        // A lease is written into its work item.
        P.work,
      ],
      delete: [...[P.announced, P.claimsByState, P.claimsBySubject, P.idempotency], ...[P.usage, P.watchlists, P.work]],
    },
    uploads: { read: [UPLOADED_OBJECTS], tag: [UPLOADED_OBJECTS] },
  },
  'upload-arrived': {
    table: {
      read: [...FORMAT_READS, P.apiKeys, P.erasures, P.uploads],
      put: [P.uploads, P.work],
    },
    // HEAD of an object needs a read permission.
    uploads: { read: [UPLOADED_OBJECTS], tag: [UPLOADED_OBJECTS] },
  },
  // It sends requests to servers of others, so it can read no account, key, audit record or batch. It changes markets only by
  // files that the worker checks and applies.
  sources: {
    table: {
      read: [...FORMAT_READS, P.sourceRuns, P.sources, P.sourceStates, P.sourceWork, P.uploads],
      put: [P.sourceRuns, P.sourceStates, P.sourceWork, P.uploads, P.work],
      delete: [P.sourceWork],
    },
    uploads: { read: [UPLOADED_OBJECTS, ARCHIVED_OBJECTS], put: [UPLOADED_OBJECTS, ARCHIVED_OBJECTS] },
  },
  publish: {
    table: {
      read: [...PUBLISHER_READS, P.filesBehind, P.incidents, P.publishedSite],
      put: [
        P.compat,
        P.filesBehind,
        P.format,
        P.generationOf,
        P.generations,
        P.head,
        P.incidents,
        P.listChanges,
        P.logEntries,
        P.logHashes,
        P.published,
        P.publishedSite,
        P.deferred,
        P.supersededPages,
        P.takedowns,
        // For marking all markets for a refresh.
        P.work,
      ],
      delete: [
        ...[P.awaitingGeneration, P.filesBehind, P.listChanges, P.marks],
        ...[P.published, P.deferred, P.supersededPages, P.takedownsDue],
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
          P.compat,
          P.exportFiles,
          P.exports,
          P.head,
          P.listChanges,
          P.published,
          P.publishedSite,
          P.supersededPages,
          P.sweep,
        ],
      ],
      // The position where its next walk begins.
      put: [P.sweep],
      // HEAD has a separate partition, so the sweep cannot delete it.
      delete: [P.exportFiles, P.exports, P.generations, P.supersededPages],
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
      read: [...FORMAT_READS, P.exportFiles, P.exports, P.compat, P.head, P.logEntries, P.market],
      put: [P.exportFiles, P.exports, P.compat],
      // The requests to make objects again.
      delete: [P.compat, P.exports],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, LAYOUT_OBJECTS], put: [EXPORT_OBJECTS, COMPAT_OBJECTS] },
  },
  // It changes nothing in the first region.
  copy: {
    table: { read: [...FORMAT_READS, P.head] },
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
      read: [...PUBLISHER_READS, ...MOVED_PARTITIONS, P.announced, P.work],
      put: [
        ...[P.announced, P.generations, P.head, P.market, P.marketIndex, P.marks],
        // For the migration.
        ...[P.awaitingGeneration, P.format, P.generationOf, P.listChanges, P.work],
      ],
      // Observations of a market without a record, because their market is undefined; items that wait for a revision that
      // no market has; and items that a migration moves to other keys.
      delete: [P.awaitingGeneration, P.market, P.marketIndex, P.marks, P.deferred, ...MOVED_PARTITIONS],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS] },
  },
  'first-key': {
    table: {
      read: [P.apiKeys, P.firstKey],
      put: [P.apiKeys, P.auditByDay, P.auditBySystem, P.auditByTarget, P.firstKey],
    },
  },
};
