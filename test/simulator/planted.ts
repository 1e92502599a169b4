/** Guards that are switched off one at a time. The simulator must find each of these faults. */
import { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import type { Change, Item, Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { WORK_QUEUE, type WorkValue } from '../../storage/records/batches.ts';
import { OBSERVATION_PREFIX, slugOfRecordKey } from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  FRESH_MARKS,
  HEAD_KEY,
  type HeadValue,
  LIST_CHANGES,
  type PublishedHeads,
} from '../../storage/records/publication.ts';
import {
  believing,
  damagingOnce,
  hidingFromPlans,
  lateFor,
  puttingTilesEarly,
  sayingOnce,
  showing,
  sumOfWhatWasRead,
} from './planted-ports.ts';
import type { Conditions } from './processes.ts';
import { FILE_PROJECTIONS } from './published.ts';
import { type SimulationOptions, simulate } from './simulate.ts';
import { WIRING } from './wiring.ts';
import type { Violation } from './world.ts';

export function isBody(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && !('cursor' in name);
}

export function isPage(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && 'cursor' in name;
}

export function isTile(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && 'tile' in name;
}

export function isMarketList(key: string): boolean {
  return parsePublicKey(key)?.kind === 'market-list';
}

export function isHistoryFile(key: string): boolean {
  return (HISTORY_FILE_KINDS as readonly (string | undefined)[]).includes(parsePublicKey(key)?.kind);
}

export function isHistory(key: string): boolean {
  return parsePublicKey(key)?.kind === 'history';
}

export interface Planted {
  /** The guard that is switched off. */
  readonly what: string;
  readonly options: SimulationOptions;
  /** The fault is found within this many seeds. */
  readonly within: number;
  /** Needs a rare coincidence, and so many seeds. */
  readonly isRare?: true;
  /** A violation that is correct, and does not count. */
  readonly butFor?: string;
}

/** Nothing fails: only the order of events causes the violation. */
const NO_FAULTS: Partial<Conditions> = { faultRate: 0 };
const SLOW_TO_SHOW: Partial<Conditions> = { ...NO_FAULTS, staggerRate: 0.9, staggerMs: 2_000, staggered: '' };
const AT_ONCE: Partial<Conditions> = { staggerRate: 0 };
const CALM: Partial<Conditions> = { ...AT_ONCE, ...NO_FAULTS };
const FAULTY: Partial<Conditions> = { faultRate: 0.06, deathShare: 0.2 };

/** Worlds of every seed have a log. */
const LOGGED: SimulationOptions['settings'] = { projections: ['log'] };

/** Worlds of every seed have a log and files. */
const FILED: SimulationOptions['settings'] = { projections: ['log', ...FILE_PROJECTIONS] };

const isHead = ({ key }: Change) => key.partition === HEAD_KEY.partition;
const isCheckpoint = ({ key }: Change) => key.sort === 'checkpoint';
const isOf =
  (partitions: string | readonly string[], prefix = '') =>
  (item: Pick<Item, 'partition' | 'sort'>) =>
    [partitions].flat().includes(item.partition) && item.sort.startsWith(prefix);

/** Wraps the ports of processes of this kind. */
function toThe(process: string, shown: (item: Item) => Item): Pick<SimulationOptions, 'ledger'> {
  return { ledger: (ledger, name) => (name.startsWith(process) ? showing(ledger, shown) : ledger) };
}

/** Publishers hold these puts back until that of the last kind. */
function late(isHeld: (key: string) => boolean, last = 'snapshot'): Pick<SimulationOptions, 'objects'> {
  const isLast = (key: string) => parsePublicKey(key)?.kind === last;
  return onPublishers((objects) => lateFor(objects, { isHeld, isLast }));
}

function onPublishers(change: (objects: ObjectStore) => ObjectStore): Pick<SimulationOptions, 'objects'> {
  return { objects: (objects, name) => (name.startsWith('publisher') ? change(objects) : objects) };
}

function ofPublishers(change: (ledger: Ledger) => Ledger): Pick<SimulationOptions, 'ledger'> {
  return { ledger: (ledger, name) => (name.startsWith('publisher') ? change(ledger) : ledger) };
}

/** One publisher leaves a damaged page. The next one that puts this page stops and raises an alarm. */
export const DAMAGED: SimulationOptions = {
  kind: 'ordinary',
  conditions: CALM,
  objects: (objects, name) => (name === 'publisher-1.1' ? damagingOnce(objects, isPage) : objects),
};

export const PLANTED: readonly Planted[] = [
  {
    what: 'the sum of a history',
    options: {
      kind: 'ordinary',
      conditions: SLOW_TO_SHOW,
      ...ofPublishers(sumOfWhatWasRead),
    },
    within: 100,
  },
  {
    what: 'the revision of a mark',
    options: {
      kind: 'ordinary',
      conditions: SLOW_TO_SHOW,
      ...toThe('publisher', (item) =>
        isOf(FRESH_MARKS.shards, FRESH_MARKS.prefix)(item) ? { ...item, revision: 0 } : item,
      ),
    },
    within: 100,
  },
  {
    what: 'the filter of later revisions',
    options: {
      kind: 'busy',
      ...toThe('publisher', (item) =>
        item.sort.startsWith(OBSERVATION_PREFIX) ? { ...item, revision: passing(item.revision) } : item,
      ),
    },
    within: 10,
  },
  {
    what: 'the condition on HEAD',
    options: { kind: 'ordinary', conditions: AT_ONCE, ledgerGaps: (change) => change.kind === 'put' && isHead(change) },
    within: 100,
  },
  {
    what: 'the condition of a put of a body',
    options: { kind: 'ordinary', conditions: { ...AT_ONCE, ...FAULTY }, storeGaps: { put: isBody } },
    within: 1_000,
    isRare: true,
  },
  {
    what: 'the condition of records on HEAD',
    options: {
      kind: 'ordinary',
      conditions: { ...AT_ONCE, ...FAULTY },
      ledgerGaps: (change, _, changes) => change.kind === 'check' && isHead(change) && changes.some(isOfPublished),
    },
    within: 3_000,
    isRare: true,
  },
  {
    what: 'the order in which bodies are put',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      ...late(isHistory),
    },
    within: 10,
  },
  {
    what: 'the order of the files of a history and of its market',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: FILED,
      ...late(isHistoryFile),
    },
    within: 10,
  },
  {
    what: 'the order of the list and of the files of all markets',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: FILED,
      ...late(isMarketList),
    },
    within: 20,
  },
  {
    what: 'the records of files, in the sweep',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: FILED,
      ...toThe('sweep', (item) => {
        const { files, ...heads } = (item.value ?? {}) as Partial<PublishedHeads>;
        return files === undefined ? item : { ...item, value: heads };
      }),
    },
    within: 20,
  },
  {
    what: 'the order of the tiles of the log and of its checkpoint',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: LOGGED,
      ...late(isTile, 'log-checkpoint'),
    },
    within: 10,
  },
  {
    what: 'that tiles of the log are put after the swap',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: LOGGED,
      ...onPublishers(puttingTilesEarly),
    },
    within: 10,
  },
  {
    what: 'that the log states what a generation which was given up had stated',
    options: {
      kind: 'ordinary',
      conditions: AT_ONCE,
      settings: LOGGED,
      ...ofPublishers(sayingOnce),
    },
    within: 100,
  },
  {
    what: 'the comparison of the log with the store after a restore',
    options: {
      kind: 'restored',
      settings: LOGGED,
      ...toThe('publisher', (item) => {
        const { log, ...head } = (item.value ?? {}) as HeadValue;
        if (!isOf(HEAD_KEY.partition)(item) || log === undefined) return item;
        return { ...item, value: { ...head, log: { ...log, isDoubtful: undefined } } as never };
      }),
    },
    within: 50,
  },
  {
    what: 'the order of the list and of the bodies of a removed market',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      ...late(isMarketList),
    },
    within: 100,
    butFor: 'older-than-its-link',
  },
  {
    what: 'the revisions that a batch waits for',
    options: {
      kind: 'ordinary',
      conditions: SLOW_TO_SHOW,
      ...toThe('publisher', (item) =>
        isOf(AWAITING_GENERATION.shards, 'batch/')(item) ? { ...item, value: { revisions: {} } } : item,
      ),
    },
    within: 100,
  },
  {
    what: 'the condition on the end of a mark',
    options: {
      kind: 'ordinary',
      conditions: AT_ONCE,
      ledgerGaps: (change) => change.kind === 'delete' && FRESH_MARKS.shards.includes(change.key.partition),
    },
    within: 200,
  },
  {
    what: 'the record of changes that the list does not show yet',
    options: {
      kind: 'ordinary',
      conditions: CALM,
      settings: { listEverySeconds: 30 },
      ...ofPublishers((ledger) => ({
        ...ledger,
        query: async (partition, options) =>
          LIST_CHANGES.shards.includes(partition) ? { items: [], next: null } : await ledger.query(partition, options),
      })),
    },
    within: 20,
  },
  {
    what: 'recovery',
    options: {
      kind: 'ordinary',
      conditions: { ...AT_ONCE, faultRate: 0.06, deathShare: 0.5 },
      ...toThe('publisher', (item) =>
        isOf(HEAD_KEY.partition)(item) ? { ...item, value: { ...(item.value as HeadValue), applied: true } } : item,
      ),
    },
    within: 100,
  },
  {
    what: 'the comparison of a page with the existing one',
    options: {
      ...DAMAGED,
      objects: (objects, name) => believing(DAMAGED.objects?.(objects, name) ?? objects, isPage),
    },
    within: 50,
    butFor: 'alarm',
  },
  {
    what: 'the lease',
    options: {
      kind: 'workers',
      ledgerGaps: ({ key }) => WORK_QUEUE.shards.includes(key.partition),
      ...toThe('worker', (item) =>
        isOf(WORK_QUEUE.shards)(item) ? { ...item, value: { ...(item.value as WorkValue), lease: null } } : item,
      ),
    },
    within: 10,
  },
  {
    what: 'the order of a lane',
    options: {
      kind: 'ordinary',
      conditions: AT_ONCE,
      ...toThe('worker', (item) =>
        isOf(WORK_QUEUE.shards)(item) ? { ...item, value: { ...(item.value as WorkValue), lane: item.sort } } : item,
      ),
    },
    within: 400,
  },
  {
    what: 'the checks of what an unchanged or refused row was judged on',
    options: {
      kind: 'ordinary',
      // It takes three writes of one observation, the last one while the one before it shows only in part.
      conditions: { ...NO_FAULTS, staggerRate: 1, staggerMs: 60_000, staggered: 'worker' },
      batches: 12,
      ledgerGaps: ({ kind, key }) => kind === 'check' && key.sort.startsWith(OBSERVATION_PREFIX),
    },
    within: 1_500,
    isRare: true,
    // A worker gives up on a transaction that shows only in part for so long.
    butFor: 'work-failed',
  },
  {
    what: 'the condition on the checkpoint of a batch',
    options: {
      kind: 'ordinary',
      // Two workers must have one batch, so one of them must be held up for longer than its lease.
      conditions: { ...AT_ONCE, faultRate: 0.2, deathShare: 0 },
      ledgerGaps: ({ key: { partition, sort } }) =>
        partition.startsWith('batch/') && (sort === 'checkpoint' || sort.startsWith('strand/')),
    },
    within: 400,
    isRare: true,
  },
  {
    what: 'what several batches in one transaction were decided on',
    options: {
      kind: 'ordinary',
      conditions: AT_ONCE,
      settings: { workersOnlyPoll: true },
      batches: 12,
      ledgerGaps: ({ kind, key }, _, changes) =>
        kind === 'put' && slugOfRecordKey(key).length > 0 && changes.filter(isCheckpoint).length > 1,
    },
    within: 400,
    isRare: true,
  },
  {
    what: 'the lifetime of a cursor, in the sweep',
    options: {
      kind: 'ordinary',
      conditions: AT_ONCE,
      wiring: {
        sweep: (host) => WIRING.sweep({ ...host, nowMs: () => host.nowMs() + (PAGE_RETENTION_SECONDS - 60) * 1000 }),
      },
    },
    within: 300,
    isRare: true,
  },
  {
    what: 'the look for files of histories that are public, after a restore',
    options: {
      kind: 'restored',
      conditions: CALM,
      settings: FILED,
      ...onPublishers((objects) => hidingFromPlans(objects, isHistoryFile)),
    },
    within: 300,
    isRare: true,
  },
  {
    what: 'the grace after a restore',
    options: {
      kind: 'restored',
      ...toThe('sweep', (item) =>
        isOf(HEAD_KEY.partition)(item) ? { ...item, value: { ...(item.value as HeadValue), knownSince: 0 } } : item,
      ),
    },
    within: 1_000,
    isRare: true,
  },
];

/** Compares like an early revision, but adds up with its real value. */
function passing(revision: number): number {
  const disguised = { [Symbol.toPrimitive]: (hint: string) => (hint === 'string' ? String(revision) : 0) };
  return disguised as unknown as number;
}

function isOfPublished({ key }: Change): boolean {
  return key.partition.startsWith('published/');
}

export interface Found extends Violation {
  readonly seed: number;
}

/** Null if it is not found within the number of seeds in the table. */
export async function findPlanted({ options, within, butFor }: Planted): Promise<Found | null> {
  for (let seed = 1; seed <= within; seed++) {
    const { violation } = await simulate(seed, options);
    if (violation !== null && violation.rule !== butFor) return { seed, ...violation };
  }
  return null;
}
