/**
 * What each function may do, and nothing else: least privilege as data. The table's rows are grouped by partition
 * (storage/records/), so IAM decides per kind of record. Tests hold these against what the code does.
 *
 * What IAM cannot say: that a put creates and does not replace. Who may put an audit record could put one over another;
 * the code never does (condition `absent`), and nobody may update or delete one. Point-in-time recovery shows what was.
 */
import { UPLOADS_PREFIX } from '../contract/aws.ts';
import { PUBLIC_PREFIX } from '../contract/public-objects.ts';
import { OLD_PARTITIONS, PARTITIONS as P } from './partitions.ts';

export const FUNCTION_NAMES = [
  'write-api',
  'worker',
  'upload-arrived',
  'publish',
  'verify',
  'collect-garbage',
  'repair',
  'first-key',
] as const;

/** The name of a function is that of its bundle, too. */
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** Partitions of the ledger, where `*` stands for any rest. */
type Partitions = readonly string[];

export interface TableAccess {
  /** To get, query, and check within a transaction. */
  readonly read: Partitions;
  readonly put: Partitions;
  /** To add to counters. */
  readonly count: Partitions;
  readonly delete: Partitions;
}

export interface ObjectAccess {
  /** Keys below these may be read; names of all keys may be listed, or a missing object would be refused, not absent. */
  readonly read: readonly string[];
  readonly put: readonly string[];
  readonly delete: readonly string[];
}

export interface Access {
  readonly table: TableAccess;
  readonly publicObjects: ObjectAccess;
  readonly uploads: ObjectAccess;
  /** The secret from which cursors and stored answers are authenticated. */
  readonly secret: boolean;
  /** To have the CDN forget what it holds. */
  readonly invalidate: boolean;
}

/** Redo bundles and layouts of the market list: beside the public objects, and out of readers' reach. */
export const REDO_OBJECTS = 'redo/*';
export const LAYOUT_OBJECTS = 'layout/*';

const PUBLIC_OBJECTS = `${PUBLIC_PREFIX}/*`;
const UPLOADED_OBJECTS = `${UPLOADS_PREFIX}*`;

const NO_TABLE: TableAccess = { read: [], put: [], count: [], delete: [] };
const NO_OBJECTS: ObjectAccess = { read: [], put: [], delete: [] };
const NOTHING: Access = {
  table: NO_TABLE,
  publicObjects: NO_OBJECTS,
  uploads: NO_OBJECTS,
  secret: false,
  invalidate: false,
};

/** What shows the format of the ledger: the last two in a ledger that does not say it. */
const FORMAT_READS: Partitions = [P.format, P.generations, P.marketIndex];

/** What is published is a projection of these. No entitlement, key, contact or audit record is among them. */
const PUBLISHER_READS: Partitions = [
  ...FORMAT_READS,
  P.awaitingGeneration,
  P.generationOf,
  P.head,
  P.listChanges,
  P.market,
  P.marks,
  P.publications,
  P.published,
  P.putOff,
  P.supersededPages,
];

/** What the write API writes: everything that a request may ask for. Nothing that only the publisher may say. */
const WRITE_API_PUTS: Partitions = [
  P.apiKeys,
  P.auditByActor,
  P.auditByTarget,
  P.awaitingGeneration,
  P.batches,
  P.claims,
  P.claimsByState,
  P.claimsBySubject,
  P.entitlements,
  P.erasures,
  P.idempotency,
  P.market,
  P.marks,
  P.publications,
  P.verifications,
  P.verificationsByMarket,
  P.waitlist,
  P.watchlists,
  P.work,
];

export const ACCESS: { readonly [Name in FunctionName]: Access } = {
  'write-api': {
    ...NOTHING,
    table: {
      read: [...FORMAT_READS, ...WRITE_API_PUTS, P.generationOf, P.usage],
      put: WRITE_API_PUTS,
      count: [P.usage],
      delete: [P.claimsByState, P.claimsBySubject, P.watchlists],
    },
    // To sign the URLs by which large files are put; whoever has one has this permission, for that key.
    uploads: { read: [], put: [UPLOADED_OBJECTS], delete: [] },
    secret: true,
  },
  worker: {
    ...NOTHING,
    table: {
      read: [
        ...FORMAT_READS,
        P.apiKeys,
        P.batches,
        P.claims,
        P.claimsByState,
        P.claimsBySubject,
        P.entitlements,
        P.erasures,
        P.idempotency,
        P.market,
        P.usage,
        P.verifications,
        P.verificationsByMarket,
        P.watchlists,
        P.work,
      ],
      put: [
        P.apiKeys,
        P.auditBySystem,
        P.auditByTarget,
        P.awaitingGeneration,
        P.batches,
        P.claims,
        P.claimsByState,
        P.claimsBySubject,
        P.entitlements,
        P.erasures,
        // Of a ledger that is used for the first time.
        P.format,
        P.market,
        P.marketIndex,
        P.marks,
        P.verifications,
        P.verificationsByMarket,
        // A lease is written into its item.
        P.work,
      ],
      count: [],
      delete: [P.claimsByState, P.claimsBySubject, P.idempotency, P.usage, P.watchlists, P.work],
    },
    uploads: { read: [UPLOADED_OBJECTS], put: [], delete: [] },
  },
  'upload-arrived': {
    ...NOTHING,
    table: { read: [...FORMAT_READS, P.batches], put: [P.batches, P.work], count: [], delete: [] },
    // To see whether it is there: that counts as reading.
    uploads: { read: [UPLOADED_OBJECTS], put: [], delete: [] },
  },
  publish: {
    ...NOTHING,
    table: {
      read: PUBLISHER_READS,
      put: [
        P.format,
        P.generationOf,
        P.generations,
        P.head,
        P.listChanges,
        P.published,
        P.putOff,
        P.supersededPages,
        // To have every market rendered again.
        P.work,
      ],
      count: [],
      delete: [P.awaitingGeneration, P.listChanges, P.marks, P.published, P.putOff, P.supersededPages],
    },
    publicObjects: {
      read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      put: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      // Its own bundle, once it is applied. Nothing that readers could have is deleted in publishing.
      delete: [REDO_OBJECTS],
    },
    invalidate: true,
  },
  // It sees what readers see, from where they stand.
  verify: NOTHING,
  'collect-garbage': {
    ...NOTHING,
    table: {
      read: [...FORMAT_READS, P.head, P.listChanges, P.published, P.supersededPages, P.sweep],
      // The place where its next walk begins.
      put: [P.sweep],
      count: [],
      // HEAD is in a partition of its own, which is not here.
      delete: [P.generations, P.supersededPages],
    },
    publicObjects: {
      read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
      put: [],
      delete: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS],
    },
  },
  // By hand only. What it changes is in the ledger; the publisher then publishes it.
  repair: {
    ...NOTHING,
    table: {
      read: [...PUBLISHER_READS, ...OLD_PARTITIONS, P.batches, P.work],
      put: [
        ...[P.generations, P.head, P.market, P.marketIndex, P.marks],
        // To migrate.
        ...[P.batches, P.format, P.published, P.supersededPages, P.work],
      ],
      count: [],
      // Observations of a market that has no record: nothing says what they are of. And what an earlier format had.
      delete: [P.market, P.marketIndex, P.marks, P.putOff, P.generations, ...OLD_PARTITIONS],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, REDO_OBJECTS, LAYOUT_OBJECTS], put: [], delete: [] },
  },
  'first-key': {
    ...NOTHING,
    table: {
      read: [P.apiKeys, P.firstKey],
      put: [P.apiKeys, P.auditBySystem, P.auditByTarget, P.firstKey],
      count: [],
      delete: [],
    },
  },
};
