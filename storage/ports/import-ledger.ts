/**
 * Copies a whole ledger into an empty one, for example of another adapter: a service moves from a server to AWS in this
 * way. It may be interrupted at any moment, and continues when it is started again with the same source.
 *
 * Safety: every item is put under the condition that it is absent. The attempt id of a transaction follows from the
 * source's digest and from the transaction's place. So a repeated transaction is recognised, an item of any other writer is
 * never overwritten, and the audit's rule holds. The record of the format comes last: until then, no function uses the
 * ledger. Expired items are copied too, because transactions must have the same items each time.
 */
import pMap from 'p-map';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../records/formats.ts';
import { IMPORT_KEY } from '../records/imports.ts';
import { StorageCorrupt } from './errors.ts';
import { readFormat } from './format.ts';
import { type Change, type Item, type Ledger, type LedgerReader, MAX_TRANSACT_CHANGES } from './ledger.ts';
import { MAX_TRANSACT_BYTES } from './ledger-rules.ts';
import { queryPages } from './paging.ts';

export interface ImportOptions {
  /** Nothing may write to it meanwhile. */
  readonly source: LedgerReader;
  readonly partitions: readonly string[];
  /** The SHA-256 of the source, in hex. */
  readonly digest: string;
  readonly target: Ledger;
  readonly progress: (donePartitions: number, of: number) => void;
}

export interface ImportOutcome {
  /** The number of items in the target, including those of earlier attempts. */
  readonly items: number;
  /** Whether an earlier call had finished: then this call did nothing. */
  readonly wasFinished: boolean;
}

const TRANSACTIONS_AT_ONCE = 8;

/**
 * @throws StorageCorrupt if the target holds anything else than this import
 * @throws RangeError if the source has another format than this version's
 */
export async function importLedger(options: ImportOptions): Promise<ImportOutcome> {
  const { source, target, digest } = options;
  const format = await source.get(FORMAT_KEY);
  if (format?.value.format !== LEDGER_FORMAT) {
    throw new RangeError(
      `The source has format ${format?.value.format ?? 'none'}, and this version uses ${LEDGER_FORMAT}: start its server once with this version, and make another backup.`,
    );
  }
  const claim = await target.get(IMPORT_KEY);
  if (claim === null && (await readFormat(target)) !== null) throw notOurs('it is in use');
  if (claim !== null && claim.value.source !== digest) throw notOurs('another ledger was imported into it');
  if (claim?.revision === 2) return { items: 0, wasFinished: true };
  const put = async (changes: readonly Change[], place: number | 'first' | 'last'): Promise<void> => {
    const result = await target.transact(changes, { attemptId: `import-${digest}-${place}` });
    if (result.committed) return;
    const { partition, sort } = changes[result.refusals[0]?.index ?? 0]?.key ?? IMPORT_KEY;
    throw notOurs(`it has an item (${partition}, ${sort}) already`);
  };
  const value = { source: digest };
  await put([{ kind: 'put', key: IMPORT_KEY, revision: 1, value, if: { kind: 'absent' } }], 'first');
  let items = 0;
  await pMap(
    transactionsOf(options),
    async (changes, place) => {
      await put(changes, place);
      items += changes.length;
    },
    { concurrency: TRANSACTIONS_AT_ONCE },
  );
  const finished = {
    kind: 'put',
    key: IMPORT_KEY,
    revision: 2,
    value,
    if: { kind: 'revision-is', revision: 1 },
  } as const;
  await put([changeOf(format), finished], 'last');
  return { items: items + 1, wasFinished: false };
}

/** Transactions of as many items as possible, without the items that must come first or last. */
async function* transactionsOf({ source, partitions, progress }: ImportOptions): AsyncGenerator<Change[]> {
  let changes: Change[] = [];
  let bytes = 0;
  for (const [done, partition] of partitions.entries()) {
    progress(done, partitions.length);
    if (partition === FORMAT_KEY.partition || partition === IMPORT_KEY.partition) continue;
    for await (const items of queryPages<never>(source, { partition })) {
      for (const item of items) {
        const size = sizeOfItem(item);
        if (changes.length === MAX_TRANSACT_CHANGES || bytes + size > MAX_TRANSACT_BYTES) {
          yield changes;
          [changes, bytes] = [[], 0];
        }
        changes.push(changeOf(item));
        bytes += size;
      }
    }
  }
  if (changes.length > 0) yield changes;
}

function changeOf({ partition, sort, revision, value, expiresAtMs }: Item<never> | Item): Change {
  const expiry = expiresAtMs === null ? {} : { expiresAtMs };
  return { kind: 'put', key: { partition, sort }, revision, value, ...expiry, if: { kind: 'absent' } };
}

/** An upper bound of the size that the rules of a transaction count. */
function sizeOfItem({ partition, sort, value }: Item): number {
  return 512 + Buffer.byteLength(partition) + Buffer.byteLength(sort) + Buffer.byteLength(canonicalJson(value));
}

function notOurs(why: string): StorageCorrupt {
  return new StorageCorrupt(`The target cannot take this ledger: ${why}. Import into a new, empty table.`);
}
