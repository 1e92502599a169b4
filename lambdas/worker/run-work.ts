/** Does the work that requests have left behind: items of one queue, in order, each by the runner of its kind. */
import { WORK_PARTITION, type WorkValue } from '../../storage/batch-records.ts';
import { type Item, type Ledger, StorageUnavailable } from '../../storage/ledger.ts';

type Kind = WorkValue['kind'];

/**
 * Does one item's work to its end, and takes the item off the queue in its last transaction. May be called again for work
 * that was begun, or done, by another worker or before a crash.
 */
export type Runner<Value extends WorkValue = WorkValue> = (work: Value) => Promise<void>;

export interface WorkDependencies {
  readonly ledger: Pick<Ledger, 'query'>;
  readonly runners: { readonly [Name in Kind]: Runner<Extract<WorkValue, { kind: Name }>> };
  /** Told of each failure; the item stays on the queue. */
  readonly failed: (item: Item, error: unknown) => void;
}

export interface WorkDone {
  readonly done: number;
  /** Items that stay on the queue for the next run. */
  readonly failed: number;
}

const PAGE_ITEMS = 100;

/** How often an item is tried in one run when storage does not answer. */
const STORAGE_TRIES = 3;

/**
 * Runs what is on the queue, and what comes while it does, until nothing is left but items that have failed. Those do not
 * hold up the others; the next run tries them again.
 *
 * @throws StorageUnavailable when the queue itself cannot be read.
 */
export async function runWork(dependencies: WorkDependencies): Promise<WorkDone> {
  const tried = new Set<string>();
  let done = 0;
  let failed = 0;
  for (;;) {
    const found = tried.size;
    for await (const item of queued(dependencies.ledger)) {
      if (tried.has(item.sort)) continue;
      tried.add(item.sort);
      if (await runItem(dependencies, item)) done++;
      else failed++;
    }
    if (tried.size === found) return { done, failed };
  }
}

async function* queued(ledger: Pick<Ledger, 'query'>): AsyncGenerator<Item> {
  let after: string | null = null;
  do {
    const options = { limit: PAGE_ITEMS, ...(after === null ? {} : { after }) };
    const page: Awaited<ReturnType<Ledger['query']>> = await ledger.query(WORK_PARTITION, options);
    yield* page.items;
    after = page.next;
  } while (after !== null);
}

async function runItem({ runners, failed }: WorkDependencies, item: Item): Promise<boolean> {
  const work = item.value as WorkValue;
  for (let tries = 1; ; tries++) {
    try {
      await runnerOf(runners, work.kind)(work);
      return true;
    } catch (error) {
      if (error instanceof StorageUnavailable && tries < STORAGE_TRIES) continue;
      failed(item, error);
      return false;
    }
  }
}

function runnerOf(runners: WorkDependencies['runners'], kind: Kind): Runner {
  const runner = Object.hasOwn(runners, kind) ? (runners[kind] as Runner) : undefined;
  if (runner === undefined) throw new Error(`no runner for work of kind ${kind}: a newer version has queued it`);
  return runner;
}
