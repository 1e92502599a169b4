/**
 * What each function may do, and nothing else: least privilege as data. The table's rows are grouped by partition
 * (storage/records/), so IAM decides per kind of record. Tests hold these against what the code does.
 *
 * What IAM cannot say: that a put creates and does not replace. Who may put an audit record could put one over another;
 * the code never does (condition `absent`), and nobody may update or delete one. Point-in-time recovery shows what was.
 */
import { UPLOADS_PREFIX } from '../contract/aws.ts';
import { PUBLIC_PREFIX } from '../contract/public-objects.ts';

export const FUNCTION_NAMES = [
  'write-api',
  'worker',
  'upload-arrived',
  'publish',
  'verify',
  'collect-garbage',
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

/** Where redo bundles are, beside the public objects and out of readers' reach (publisher/bundle.ts). */
export const REDO_OBJECTS = 'redo/*';
/** Where the layouts of the market list are, likewise. */
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

/** What is published is a projection of these. No entitlement, key, contact or audit record is among them. */
const PUBLISHER_READS: Partitions = [
  'awaiting-generation',
  'dirty',
  'generation-of',
  'market/*',
  'markets',
  'publication',
  'publications',
  'published/*',
  'unlinked',
];

/** The publisher's own records, and nobody else's. */
const PUBLISHER_TABLE: TableAccess = {
  read: PUBLISHER_READS,
  put: ['generation-of', 'publication', 'published/*', 'unlinked'],
  count: [],
  delete: ['awaiting-generation', 'dirty', 'published/*', 'unlinked'],
};

/** Nothing is deleted in publishing: what is left over, bodies of a removed market among it, is garbage. */
const PUBLISHED: ObjectAccess = {
  read: [PUBLIC_OBJECTS, REDO_OBJECTS],
  put: [PUBLIC_OBJECTS, REDO_OBJECTS],
  delete: [],
};

/** What the write API writes: everything that a request may ask for. Nothing that only the publisher may say. */
const WRITE_API_PUTS: Partitions = [
  'api-keys',
  'audit/*',
  'awaiting-generation',
  'batch/*',
  'claim/*',
  'claims/*',
  'dirty',
  'entitlements/*',
  'erasures',
  'idempotency/*',
  'market/*',
  'publications',
  'verifications',
  'verifications/*',
  'waitlist',
  'watchlists/*',
  'work',
];

export const ACCESS: { readonly [Name in FunctionName]: Access } = {
  'write-api': {
    ...NOTHING,
    table: {
      read: [...WRITE_API_PUTS, 'generation-of', 'usage/*'],
      put: WRITE_API_PUTS,
      count: ['usage/*'],
      delete: ['claims/*', 'watchlists/*'],
    },
    // To sign the URLs by which large files are put; whoever has one has this permission, for that key.
    uploads: { read: [], put: [UPLOADED_OBJECTS], delete: [] },
    secret: true,
  },
  worker: {
    ...NOTHING,
    table: {
      read: [
        'api-keys',
        'batch/*',
        'claim/*',
        'claims/*',
        'entitlements/*',
        'erasures',
        'idempotency/*',
        'market/*',
        'markets',
        'usage/*',
        'verifications',
        'verifications/*',
        'watchlists/*',
        'work',
      ],
      put: [
        'api-keys',
        'audit/actor/system:*',
        'audit/target/*',
        'awaiting-generation',
        'batch/*',
        'claim/*',
        'claims/*',
        'dirty',
        'entitlements/*',
        'erasures',
        'market/*',
        'markets',
        'verifications',
        'verifications/*',
      ],
      count: [],
      delete: ['claims/*', 'idempotency/*', 'usage/*', 'watchlists/*', 'work'],
    },
    uploads: { read: [UPLOADED_OBJECTS], put: [], delete: [] },
  },
  'upload-arrived': {
    ...NOTHING,
    table: { read: ['batch/*'], put: ['batch/*', 'work'], count: [], delete: [] },
    // To see whether it is there: that counts as reading.
    uploads: { read: [UPLOADED_OBJECTS], put: [], delete: [] },
  },
  publish: { ...NOTHING, table: PUBLISHER_TABLE, publicObjects: PUBLISHED, invalidate: true },
  // It sees what readers see, from where they stand.
  verify: NOTHING,
  'collect-garbage': {
    ...NOTHING,
    table: {
      // It keeps the place where its next walk begins.
      read: ['garbage', 'markets', 'publication', 'published/*', 'unlinked'],
      put: ['garbage'],
      count: [],
      delete: ['publication', 'unlinked'],
    },
    publicObjects: { read: [PUBLIC_OBJECTS, REDO_OBJECTS], put: [], delete: [PUBLIC_OBJECTS, REDO_OBJECTS] },
  },
  'first-key': {
    ...NOTHING,
    table: {
      read: ['api-keys', 'first-key'],
      put: ['api-keys', 'audit/actor/system:*', 'audit/target/*', 'first-key'],
      count: [],
      delete: [],
    },
  },
};
