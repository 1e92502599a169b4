/** Renders one range of a full republish, and applies it once HEAD is swapped. May run anywhere, for all ranges at once. */
import type { Item, Ledger } from '../storage/ledger.ts';
import { MARKETS_PARTITION } from '../storage/records/markets.ts';
import {
  DIRTY_PARTITION,
  dirtyMarketKey,
  HEAD_KEY,
  type HeadValue,
  type PreparedObject,
  parseDirtyMark,
  REPUBLISH_KEY,
  type RenderedRangeValue,
  type RepublishValue,
  renderedRangeKey,
} from '../storage/records/publication.ts';
import { applyParts, supersededIfMoved } from './apply.ts';
import { BundleWriter, putLines, readBundle } from './bundle.ts';
import type { PublisherStorage } from './dependencies.ts';
import { Superseded } from './errors.ts';
import type { ListItem } from './list-plan.ts';
import { planMarkets } from './plan-markets.ts';

/** A mark that a range takes care of, as it was read. */
export type RangeMark = Pick<Item, 'partition' | 'sort' | 'attemptId'>;

/**
 * Renders the markets of a range: puts their new history pages, and the bundle, list items and marks of the range, and
 * notes them in the ledger. Done again, it finds the note and does nothing; where it died before, it does all again, and
 * what it had put is found or swept.
 *
 * @throws Superseded when this is no longer the republish under way, or somebody else has published.
 */
export async function renderRange(storage: PublisherStorage, republish: string, range: number): Promise<void> {
  const { ledger, objects, nowMs, newAttemptId } = storage;
  const plan = await readRepublish(ledger, republish);
  if (plan === null) throw new Superseded(`the republish ${republish} has ended`);
  const key = renderedRangeKey(republish, range);
  if ((await ledger.get(key)) !== null) return;
  const { generation } = plan;

  // Marks before markets: what is marked later is not spoken for.
  const marked = await readRange(ledger, DIRTY_PARTITION, dirtyMarketKey('').sort, plan, range);
  const listed = await readRange(ledger, MARKETS_PARTITION, '', plan, range);
  const slugs = new Set([...marked.map((mark) => parseDirtyMark(mark).slug), ...listed.map(({ sort }) => sort)]);
  const bundle = new BundleWriter(objects, generation);
  const markets = await planMarkets(storage, bundle, generation, [...slugs].sort(), 'everything').catch(
    async (error: unknown) => {
      throw await supersededIfMoved(ledger, generation === 1 ? null : { revision: generation - 1 }, error);
    },
  );

  const items = [...markets.allItems].map(([slug, body]): ListItem => ({ slug, body }));
  const marks = [...marked, ...markets.marks].map(({ partition, sort, attemptId }): RangeMark => {
    return { partition, sort, attemptId };
  });
  const put = async (lines: readonly unknown[]): Promise<PreparedObject | null> =>
    lines.length === 0
      ? null
      : await putLines(
          objects,
          generation,
          lines.map((line) => JSON.stringify(line)),
        );
  const hasPuts = !bundle.isEmpty;
  const value: RenderedRangeValue = {
    // A market that is only removed has records and no body.
    bundle: hasPuts || markets.membershipChanged ? await bundle.seal() : null,
    hasPuts,
    items: await put(items),
    listed: markets.allItems.size,
    marks: await put(marks),
    countsDelta: markets.countsDelta,
  };
  // Of two that render one range, the first counts: each is whole in itself.
  const expiresAtMs = nowMs() + NOTE_SECONDS * 1000;
  await ledger.transact([{ kind: 'put', key, revision: 0, value, expiresAtMs, if: { kind: 'absent' } }], {
    attemptId: newAttemptId(),
  });
}

/**
 * Applies a range of the generation that HEAD names; harmless when that is done.
 *
 * @throws Superseded when a newer generation is in place.
 */
export async function applyRange(storage: PublisherStorage, republish: string, range: number): Promise<void> {
  const { ledger, objects, newAttemptId } = storage;
  const plan = await readRepublish(ledger, republish);
  // What has ended is applied, or changed nothing.
  if (plan === null) return;
  const key = renderedRangeKey(republish, range);
  const [head, rendered] = await ledger.getMany([HEAD_KEY, key]);
  const { bundle } = (rendered?.value ?? { bundle: null }) as RenderedRangeValue;
  if (head?.revision === plan.generation && (head.value as HeadValue).applied) return;
  if (!rendered || bundle === null || rendered.revision === APPLIED) return;
  if (head?.attemptId !== republish) throw new Superseded(`HEAD is not of the republish ${republish}`);
  await applyParts(storage, plan.generation, readBundle(objects, bundle));
  const applied = { kind: 'put', key, revision: APPLIED, value: rendered.value, if: { kind: 'present' } } as const;
  await ledger.transact([applied], { attemptId: newAttemptId() });
}

/** Long after any republish has ended: those that were left off leave nothing for ever. */
const NOTE_SECONDS = 7 * 24 * 60 * 60;

/** The revision of a range that is applied. */
export const APPLIED = 1;

/** Null when there is none. Throws {@link Superseded} when another one is under way. */
export async function readRepublish(ledger: Ledger, id: string): Promise<RepublishValue | null> {
  const value = ((await ledger.get(REPUBLISH_KEY))?.value ?? null) as RepublishValue | null;
  if (value !== null && value.id !== id) throw new Superseded(`the republish ${value.id} has taken the place of ${id}`);
  return value;
}

const READS_PER_QUERY = 1000;

/** The items of a partition whose sort keys are the prefix and a slug of the range, in order. */
async function readRange(
  ledger: Ledger,
  partition: string,
  prefix: string,
  { after }: RepublishValue,
  range: number,
): Promise<readonly Item[]> {
  const first = after[range];
  if (first === undefined) throw new RangeError(`there is no range ${range}: the republish has ${after.length}`);
  const last = after[range + 1];
  const items: Item[] = [];
  // The first slug of all comes after the empty one, which is no sort key.
  let position: string | null = prefix + first;
  do {
    const from = position === '' || position === prefix ? {} : { after: position };
    const page = await ledger.query(partition, { limit: READS_PER_QUERY, prefix, ...from });
    for (const item of page.items) {
      if (last !== undefined && item.sort > prefix + last) return items;
      items.push(item);
    }
    position = page.next;
  } while (position !== null);
  return items;
}
