/** Properties of all histories: grown by one change at a time, and cut from the beginning. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageCursor } from '../../../contract/files/cursors.ts';
import { type ClosedPage, HistoryCutter, type HistoryInput } from '../../../publisher/core/bodies/history-cutter.ts';
import type { HistoryPlan, IndexedPage, OrderedObservation } from '../../../publisher/kernel/history-plan.ts';
import { HistorySum } from '../../../storage/ports/history-sum.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { ObservationValue } from '../../../storage/records/markets.ts';

/** A history, as a reader and the next plan find it. */
interface Published {
  readonly pages: readonly IndexedPage[];
  /** All pages that were ever put, by cursor. None is removed. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly head: string;
}

/** The text of each observation, by its place, in order. */
type Observations = ReadonlyMap<number, string>;

const orderOf = (place: number): string => String(place).padStart(6, '0');

function observation(place: number, text: string): ObservationValue {
  return {
    amountMinor: place,
    confidence: 'high',
    currency: 'USD',
    id: `obs_${String(place).padStart(24, '0')}`,
    kind: 'money',
    metric: 'price',
    observedAt: '2026-01-01T00:00:00Z',
    recordedAt: '2026-01-01T00:00:00Z',
    releasedAt: null,
    retraction: null,
    rounded: false,
    sourceLabel: text,
    sourceUrl: 'https://example.com',
    sourceValue: null,
    status: 'final',
    supersededAt: null,
    supersededBy: null,
    supersedes: null,
    unknownReason: null,
  };
}

interface Input extends HistoryInput {
  readonly observations: readonly OrderedObservation[];
}

interface Cut extends HistoryPlan {
  readonly pages: readonly ClosedPage[];
}

/** Cuts a history that arrives in pieces of this size. */
function planHistory(input: Input, pieceSize = Number.POSITIVE_INFINITY): Cut {
  const cutter = new HistoryCutter(input);
  const pages: ClosedPage[] = [];
  for (let start = 0; start < input.observations.length; start += pieceSize) {
    pages.push(...cutter.add(input.observations.slice(start, start + pieceSize)));
  }
  const plan = cutter.finish();
  expect(pages.map(({ body, nextCursor, ...cut }) => cut)).toEqual(plan.pages);
  return { ...plan, pages };
}

function inOrder(observations: Observations): readonly OrderedObservation[] {
  const places = [...observations].sort(([left], [right]) => left - right);
  return places.map(([place, text]) => ({
    order: orderOf(place),
    revision: revisionOf(text),
    observation: observation(place, text),
  }));
}

/** Another text is another revision. */
function revisionOf(text: string): number {
  return Number(/\d+/.exec(text)?.[0] ?? 1_000);
}

/** The sum of the observations, without a cut. */
function sumOf(all: Observations): string {
  const sum = new HistorySum();
  for (const [place, text] of all) sum.add(orderOf(place), revisionOf(text));
  return sum.text;
}

/**
 * The publisher's input if nothing before `fromPlace` has changed: the pages that end before it are kept, and the
 * publisher knows only the newest of them.
 */
function inputOf(before: Published | null, all: Observations, fromPlace: number, fixed: Fixed): Input {
  const pages = before?.pages ?? [];
  const keptPages = pages.filter(({ page }) => page.last < orderOf(fromPlace)).length;
  const lastKept = pages[keptPages - 1]?.page.last ?? '';
  return {
    ...fixed,
    quantity: 1,
    keptPages,
    publishedPages: pages.slice(Math.max(0, keptPages - 1)),
    observations: inOrder(all).filter(({ order }) => order > lastKept),
  };
}

type Fixed = Pick<HistoryInput, 'generation' | 'pageSize'>;

function publishPlan(before: Published | null, input: Input, plan: Cut): Published {
  const bodies = new Map(before?.bodies);
  for (const { page, body, isNew } of plan.pages) {
    if (isNew) bodies.set(page.cursor, body);
    else expect(bodies.get(page.cursor)).toBe(body);
  }
  const kept = before?.pages.slice(0, input.keptPages) ?? [];
  const pages = [...kept, ...plan.pages.map(({ index, page }) => ({ index, page }))];
  expect(pages.map(({ index }) => index)).toEqual(pages.map((_, index) => index));
  expect(plan.closedPages).toBe(pages.length);
  const superseded = (before?.pages ?? []).filter(({ page }) => !pages.some((now) => now.page.cursor === page.cursor));
  expect(new Set(plan.superseded)).toEqual(new Set(superseded));
  return { pages, bodies, head: plan.head.body };
}

interface WalkedPage {
  readonly cursor: string | null;
  readonly places: readonly number[];
  readonly texts: readonly string[];
}

/** Follows the chain from the head, as a reader does. */
function walk({ head, bodies }: Published): readonly WalkedPage[] {
  const walked: WalkedPage[] = [];
  let cursor: string | null = null;
  for (let body = head; ; ) {
    const page = JSON.parse(body) as {
      data: ObservationValue[];
      page: { next: string | null; nextCursor: string | null };
    };
    const money = page.data as (ObservationValue & { kind: 'money' })[];
    walked.push({
      cursor,
      places: money.map(({ amountMinor }) => amountMinor as number),
      texts: money.map(({ sourceLabel }) => sourceLabel),
    });
    const folder = cursor === null ? 'history/pages/' : '';
    cursor = page.page.nextCursor;
    expect(page.page.next).toBe(cursor && `${folder}${cursor}.json`);
    if (cursor === null) return walked;
    body = bodies.get(cursor) as string;
    expect(cursor).toBe(pageCursor(Number(cursor.split('-')[0]), sha256Hex(body)));
  }
}

/** Each observation once, newest first. Closed pages are full; the newest page is never empty. */
function expectWhole(published: Published, all: Observations, pageSize: number): void {
  const walked = walk(published);
  const expected = [...all].sort(([left], [right]) => right - left);
  expect(walked.flatMap(({ places }) => places)).toEqual(expected.map(([place]) => place));
  expect(walked.flatMap(({ texts }) => texts)).toEqual(expected.map(([, text]) => text));
  const [head, ...closed] = walked.map(({ places }) => places.length) as [number, ...number[]];
  expect(head).toBeLessThanOrEqual(pageSize);
  if (all.size > 0) expect(head).toBeGreaterThanOrEqual(1);
  expect(closed.filter((length) => length !== pageSize)).toEqual([]);
}

interface Step {
  /** Places to write. A place that exists gets another text, as by a correction. */
  readonly places: readonly number[];
}

const pageSizes = fc.integer({ min: 1, max: 5 });
const somePlaces = fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 8 });
const growth: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({ places: somePlaces }), {
  minLength: 1,
  maxLength: 8,
});

function grow(steps: readonly Step[], pageSize: number, look?: (now: Published, all: Observations, plan: Cut) => void) {
  let published: Published | null = null;
  const all = new Map<number, string>();
  for (const [index, { places }] of steps.entries()) {
    for (const place of places) all.set(place, `written in step ${index}`);
    const fixed = { generation: index + 1, pageSize };
    const input = inputOf(published, all, Math.min(...places), fixed);
    const plan = planHistory(input);
    published = publishPlan(published, input, plan);
    look?.(published, all, plan);
  }
  return { published: published as unknown as Published, all: all as Observations };
}

describe('a history that is cut', () => {
  test('however it grew: it has each observation once, newest first; closed pages are full; each link works', () => {
    fc.assert(
      fc.property(growth, pageSizes, (steps, pageSize) => {
        grow(steps, pageSize, (now, all) => expectWhole(now, all, pageSize));
      }),
    );
  });

  test('however it grew, kept pages and new ones add up to the whole history, and each page to all up to its end', () => {
    fc.assert(
      fc.property(growth, pageSizes, (steps, pageSize) => {
        grow(steps, pageSize, ({ pages }, all, plan) => {
          expect(plan.sum).toBe(sumOf(all));
          for (const { page } of pages) {
            const upToItsEnd = [...all].filter(([place]) => orderOf(place) <= page.last);
            expect(page).toMatchObject({ count: pageSize, sum: sumOf(new Map(upToItsEnd)) });
          }
        });
      }),
    );
  });

  test('grown step by step, it equals one that is cut from the beginning, apart from the generations in cursors', () => {
    fc.assert(
      fc.property(growth, pageSizes, (steps, pageSize) => {
        const { published, all } = grow(steps, pageSize);
        const input = inputOf(null, all, 0, { generation: 99, pageSize });
        const scratch = publishPlan(null, input, planHistory(input));
        const cut = (pages: readonly WalkedPage[]) => pages.map(({ places, texts }) => ({ places, texts }));
        expect(cut(walk(published))).toEqual(cut(walk(scratch)));
        const ranges = ({ pages }: Published) =>
          pages.map(({ index, page: { first, last } }) => ({ index, first, last }));
        expect(ranges(published)).toEqual(ranges(scratch));
      }),
    );
  });

  test('an append adds newer pages and never changes a closed one', () => {
    fc.assert(
      fc.property(growth, somePlaces, pageSizes, (steps, added, pageSize) => {
        const { published: before, all } = grow(steps, pageSize);
        const appended = added.map((place) => 100 + place);
        const more = new Map([...all, ...appended.map((place) => [place, 'appended'] as const)]);
        const input = inputOf(before, more, Math.min(...appended), { generation: 50, pageSize });
        const plan = planHistory(input);
        const after = publishPlan(before, input, plan);
        expect(input.keptPages).toBe(before.pages.length);
        expect(after.pages.slice(0, before.pages.length)).toEqual(before.pages);
        expect(plan.pages.every(({ isNew }) => isNew)).toBe(true);
        expect(plan.superseded).toEqual([]);
        expectWhole(after, more, pageSize);
      }),
    );
  });

  test('a change keeps each page before it, and renews each page from it on', () => {
    fc.assert(
      fc.property(growth, fc.nat(), pageSizes, (steps, pick, pageSize) => {
        const { published: before, all } = grow(steps, pageSize);
        const places = [...all.keys()];
        const place = places[pick % places.length] as number;
        const more = new Map([...all, [place, 'corrected']]);
        const input = inputOf(before, more, place, { generation: 50, pageSize });
        const after = publishPlan(before, input, planHistory(input));
        const old = before.pages.filter(({ page }) => page.last < orderOf(place));
        expect(after.pages.slice(0, old.length)).toEqual(old);
        expect(after.pages.slice(old.length).filter(({ page }) => !page.cursor.startsWith('50-'))).toEqual([]);
      }),
    );
  });

  test('the same observations give the same bytes again, from whichever place they are read', () => {
    fc.assert(
      fc.property(growth, fc.integer({ min: 0, max: 70 }), pageSizes, (steps, fromPlace, pageSize) => {
        const { published, all } = grow(steps, pageSize);
        const input = inputOf(published, all, fromPlace, { generation: 50, pageSize });
        const plan = planHistory(input);
        expect(plan.head.body).toBe(published.head);
        expect(plan.pages.filter(({ isNew }) => isNew)).toEqual([]);
        expect(plan.superseded).toEqual([]);
        expect(planHistory(input)).toEqual(plan);
      }),
    );
  });

  test('removed observations leave the history, and their pages are named as superseded', () => {
    fc.assert(
      fc.property(growth, fc.nat({ max: 60 }), pageSizes, (steps, keep, pageSize) => {
        const { published, all } = grow(steps, pageSize);
        const fewer = new Map([...all].filter(([place]) => place < keep));
        const input = inputOf(published, fewer, 0, { generation: 50, pageSize });
        expectWhole(publishPlan(published, input, planHistory(input)), fewer, pageSize);
      }),
    );
  });

  test('the cut does not depend on the pieces in which it arrives', () => {
    fc.assert(
      fc.property(growth, fc.integer({ min: 0, max: 70 }), pageSizes, fc.integer({ min: 1, max: 9 }), (...drawn) => {
        const [steps, fromPlace, pageSize, pieceSize] = drawn;
        const { published, all } = grow(steps, pageSize);
        const input = inputOf(published, all, fromPlace, { generation: 50, pageSize });
        const plan = planHistory(input, pieceSize);
        expect(plan).toEqual(planHistory(input));
        const kept = input.keptPages * pageSize;
        expect(plan.rendered).toBe(all.size - kept);
      }),
    );
  });

  test('an empty history is one empty page', () => {
    const input = inputOf(null, new Map(), 0, { generation: 1, pageSize: 3 });
    expect(walk(publishPlan(null, input, planHistory(input)))).toEqual([{ cursor: null, places: [], texts: [] }]);
  });

  test('a kept page without a record is refused', () => {
    const input = { ...inputOf(null, new Map([[1, 'one']]), 0, { generation: 2, pageSize: 3 }), keptPages: 1 };
    expect(() => planHistory(input)).toThrow(RangeError);
  });

  test('a kept page without a recorded sum is refused', () => {
    const { published, all } = grow([{ places: [1, 2, 3, 4] }], 2);
    const input = inputOf(published, all, 4, { generation: 2, pageSize: 2 });
    const [{ page } = {}] = input.publishedPages;
    const { sum, ...older } = page as IndexedPage['page'];
    expect(() => planHistory({ ...input, publishedPages: [{ index: 0, page: older }] })).toThrow(RangeError);
  });

  test('a page with unchanged bytes keeps its cursor; its record is written again if it lacks the sum', () => {
    const { published, all } = grow([{ places: [1, 2, 3, 4, 5] }], 2);
    const [first, second] = published.pages as [IndexedPage, IndexedPage];
    const { sum, count, ...older } = first.page;
    const input = {
      ...inputOf(null, all, 0, { generation: 2, pageSize: 2 }),
      publishedPages: [{ ...first, page: older }, second],
    };
    const { pages } = planHistory(input);
    expect(pages.map(({ page, isNew, isRecorded }) => ({ page, isNew, isRecorded }))).toEqual([
      { page: first.page, isNew: false, isRecorded: false },
      { page: second.page, isNew: false, isRecorded: true },
    ]);
  });
});
