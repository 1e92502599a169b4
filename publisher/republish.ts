/**
 * Publishes everything again, in ranges of slugs, where there are too many markets for one process. The steps are those
 * of publish.ts, dealt out:
 *
 *   plan ──► renderRange, of all ranges at once ──► commit ──► applyRange, of all ranges at once ──► finish
 *
 * Everything is put under the number of the generation to come, and nothing that readers can see names it until `commit`
 * swaps HEAD: the one place, and the same swap as of any publication. So there is nothing to undo wherever this ends. A
 * publication that comes in between wins, and this ends as superseded; for that not to happen each time, publications are
 * asked to hold back ({@link isRepublishing}), for so long and no longer.
 *
 * Every step may be done again. Once HEAD is swapped, planning again takes up what is under way, and any publication
 * would apply it too, in one process.
 */

import pMap from 'p-map';
import { type Change, type Item, MAX_GET_KEYS, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { readAll } from '../storage/paging.ts';
import { MARKET_INDEX } from '../storage/records/markets.ts';
import {
  DIRTY_EVERYTHING_KEY,
  HEAD_KEY,
  type HeadValue,
  REPUBLISH_KEY,
  type RenderedRangeValue,
  type RepublishValue,
  renderedRangeKey,
} from '../storage/records/publication.ts';
import { applyParts, markApplied } from './apply.ts';
import { BundleWriter, readLines, readOwnLines } from './bundle.ts';
import type { PublisherDependencies, PublisherStorage } from './dependencies.ts';
import { Superseded } from './errors.ts';
import { clearMarks } from './marks.ts';
import { addLayoutRecords } from './plan-market-list.ts';
import { addCounts, addSingleBodies, type Draft, type PublishOutcome, publish, recover, swapHead } from './publish.ts';
import { planRepublishedList } from './republish-list.ts';
import { APPLIED, applyRange, type RangeMark, readRepublish, renderRange } from './republish-range.ts';

/** For how long ordinary publications hold back: for as long as readers can do without, and a million markets take. */
export const HOLD_SECONDS = 30 * 60;

const MARKETS_PER_RANGE = 500;
/** Their bounds are in one item of the ledger. */
const RANGES_AT_MOST = 2000;

const RANGES_AT_ONCE = 4;

export interface RepublishPlan {
  readonly republish: string;
  /** The numbers of its ranges. */
  readonly ranges: readonly number[];
}

/** Whether ordinary publications should hold back. */
export async function isRepublishing({ ledger, nowMs }: PublisherStorage): Promise<boolean> {
  const item = await ledger.get(REPUBLISH_KEY);
  return item !== null && (item.value as RepublishValue).heldUntilMs > nowMs();
}

/**
 * Begins a republish, in place of any that has not swapped HEAD. Errors as of `publish`.
 *
 * @param marketsPerRange of small deployments; with many markets, ranges are larger
 */
export async function planRepublish(
  storage: PublisherStorage,
  marketsPerRange: number = MARKETS_PER_RANGE,
): Promise<RepublishPlan> {
  const { ledger, newAttemptId } = storage;
  const [head, underWay] = await ledger.getMany([HEAD_KEY, REPUBLISH_KEY]);
  const present = underWay?.value as RepublishValue | undefined;
  if (head && present && isSwapped(head, present)) {
    await hold(storage, present);
    return planOf(present);
  }
  const recovered = await recover(storage);
  // Before the markets are read, so that what is marked later is not spoken for.
  const everythingMark = await ledger.get(DIRTY_EVERYTHING_KEY);
  const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  const size = Math.max(marketsPerRange, Math.ceil(slugs.length / RANGES_AT_MOST));
  const plan: Omit<RepublishValue, 'heldUntilMs'> = {
    id: newAttemptId(),
    generation: ((recovered?.value as HeadValue | undefined)?.generation ?? 0) + 1,
    after: ['', ...slugs.filter((_, index) => (index + 1) % size === 0 && index + 1 < slugs.length)],
    everythingMark: everythingMark?.attemptId ?? null,
  };
  await hold(storage, plan);
  return planOf(plan);
}

function planOf({ id, after }: Pick<RepublishValue, 'id' | 'after'>): RepublishPlan {
  return { republish: id, ranges: after.map((_, range) => range) };
}

/**
 * Swaps HEAD, once all ranges are rendered; harmless when that is done. If nothing differs from what is published, this
 * ends the republish.
 *
 * @throws Superseded when somebody else has published since it was planned: plan again.
 */
export async function commitRepublish(dependencies: PublisherDependencies, republish: string): Promise<void> {
  const { ledger, objects, nowMs } = dependencies;
  const plan = await readRepublish(ledger, republish);
  const head = await ledger.get(HEAD_KEY);
  if (plan === null || (head && isSwapped(head, plan))) return;
  const { generation } = plan;
  if ((head?.revision ?? 0) !== generation - 1) {
    throw new Superseded(`generation ${head?.revision} was published after the republish was planned`);
  }
  const before = (head?.value ?? null) as HeadValue | null;
  const ranges = (await readRanges(dependencies, plan)).map(({ value }) => value as RenderedRangeValue);

  const bundle = new BundleWriter(objects, generation);
  for (const { bundle: part, hasPuts } of ranges) {
    if (part !== null) await bundle.adopt(part, { isEmpty: !hasPuts });
  }
  const list = await planRepublishedList(dependencies, generation, ranges);
  await addLayoutRecords(bundle, generation, list.before, list);
  const noCounts = { markets: 0, observations: 0, unknownValues: 0 };
  const draft: Draft = {
    generation,
    publishedAt: new Date(nowMs()).toISOString(),
    bundle,
    listDigest: list.head.digest,
    counts: ranges.reduce((counts, { countsDelta }) => addCounts(counts, countsDelta), before?.counts ?? noCounts),
  };
  await addSingleBodies(dependencies, draft, before, list);
  if (bundle.isEmpty && before !== null) return await end(dependencies, plan, 'cared for');
  await swapHead(dependencies, head, draft, await bundle.seal(), republish);
  await hold(dependencies, plan);
}

/**
 * Applies what is left, the snapshot last of all, and then publishes what was due meanwhile, which tells those who wait.
 * Harmless when that is done.
 */
export async function finishRepublish(dependencies: PublisherDependencies, republish: string): Promise<PublishOutcome> {
  const { ledger, objects } = dependencies;
  const plan = await readRepublish(ledger, republish);
  const head = await ledger.get(HEAD_KEY);
  const isOurs = plan !== null && head !== null && isSwapped(head, plan);
  if (isOurs) {
    const value = head.value as HeadValue;
    const left = (await readRanges(dependencies, plan)).flatMap(({ revision }, range) =>
      revision === APPLIED ? [] : [range],
    );
    await pMap(left, (range) => applyRange(dependencies, republish, range), { concurrency: RANGES_AT_ONCE });
    const top = { key: value.bundleKey, digest: value.bundleDigest };
    await applyParts(dependencies, plan.generation, readOwnLines(objects, top));
    await markApplied(dependencies, value);
  }
  // Applied by somebody else, or not swapped at all: which of the two cannot be told any more, so every mark stays.
  if (plan !== null) await end(dependencies, plan, isOurs ? 'cared for' : 'kept');
  // A mark of everything that was set meanwhile asks for as much again: not in what is left of this step's time.
  return await publish(dependencies, 'marked-markets');
}

/**
 * Lets ordinary publications go on, when a step has failed for good. Not once HEAD is swapped: planning again takes up what
 * is left, or publications do when their time to hold back is over.
 */
export async function abandonRepublish({ ledger, newAttemptId }: PublisherStorage, republish: string): Promise<void> {
  const [head, item] = await ledger.getMany([HEAD_KEY, REPUBLISH_KEY]);
  if (!item || (item.value as RepublishValue).id !== republish || head?.attemptId === republish) return;
  const condition = { kind: 'written-by', attemptId: item.attemptId } as const;
  await ledger.transact([{ kind: 'delete', key: REPUBLISH_KEY, if: condition }], { attemptId: newAttemptId() });
}

/** All of it in this process. The outcome is that of `publish(dependencies, 'everything')`, to the byte. */
export async function republish(
  dependencies: PublisherDependencies,
  marketsPerRange: number = MARKETS_PER_RANGE,
): Promise<PublishOutcome> {
  const { republish, ranges } = await planRepublish(dependencies, marketsPerRange);
  try {
    await pMap(ranges, (range) => renderRange(dependencies, republish, range), { concurrency: RANGES_AT_ONCE });
    await commitRepublish(dependencies, republish);
  } catch (error) {
    await abandonRepublish(dependencies, republish);
    throw error;
  }
  return await finishRepublish(dependencies, republish);
}

/** Whether HEAD is the republish's own, and not yet applied: marking it applied writes it anew. */
export function isSwapped(head: Item, { id }: RepublishValue): boolean {
  return head.attemptId === id;
}

/** Without an expiry of the item: it must be there until the republish has ended, however long that takes. */
async function hold(
  { ledger, nowMs, newAttemptId }: PublisherStorage,
  plan: Omit<RepublishValue, 'heldUntilMs'>,
): Promise<void> {
  const value = { ...plan, heldUntilMs: nowMs() + HOLD_SECONDS * 1000 };
  const put: Change = { kind: 'put', key: REPUBLISH_KEY, revision: 0, value, if: { kind: 'any' } };
  await ledger.transact([put], { attemptId: newAttemptId() });
}

/** @throws Error when one has not been rendered. */
async function readRanges({ ledger }: PublisherStorage, { id, after }: RepublishValue): Promise<readonly Item[]> {
  const keys = after.map((_, range) => renderedRangeKey(id, range));
  const items: (Item | null)[] = [];
  for (let start = 0; start < keys.length; start += MAX_GET_KEYS) {
    items.push(...(await ledger.getMany(keys.slice(start, start + MAX_GET_KEYS))));
  }
  const missing = items.indexOf(null);
  if (missing >= 0) throw new Error(`range ${missing} of the republish ${id} has not been rendered: render it first`);
  return items as Item[];
}

/** Forgets the republish; its marks before, when it has taken care of them. */
async function end(storage: PublisherStorage, plan: RepublishValue, marks: 'cared for' | 'kept'): Promise<void> {
  const { ledger, newAttemptId } = storage;
  if (marks === 'cared for') await clearTaken(storage, plan);
  await abandonRepublish(storage, plan.id);
  const keys = plan.after.map((_, range) => renderedRangeKey(plan.id, range));
  for (let start = 0; start < keys.length; start += MAX_TRANSACT_CHANGES) {
    const deletes = keys.slice(start, start + MAX_TRANSACT_CHANGES).map((key): Change => {
      return { kind: 'delete', key, if: { kind: 'any' } };
    });
    await ledger.transact(deletes, { attemptId: newAttemptId() });
  }
}

async function clearTaken(storage: PublisherStorage, plan: RepublishValue): Promise<void> {
  if (plan.everythingMark !== null) {
    await clearMarks(storage, [{ ...DIRTY_EVERYTHING_KEY, attemptId: plan.everythingMark }]);
  }
  const clear = async ({ value }: Item) => {
    const { marks } = value as RenderedRangeValue;
    if (marks === null) return;
    const lines = await readLines(storage.objects, marks);
    await clearMarks(
      storage,
      lines.map((line) => JSON.parse(line) as RangeMark),
    );
  };
  await pMap(await readRanges(storage, plan), clear, { concurrency: RANGES_AT_ONCE });
}
