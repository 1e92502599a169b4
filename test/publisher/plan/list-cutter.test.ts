/** How the market list is cut, for all lists: changed one generation at a time, and cut from scratch. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageCursor } from '../../../contract/cursors.ts';
import { type ListInput, type ListPlan, planList } from '../../../publisher/plan/list-cutter.ts';
import type { PublishedPage } from '../../../storage/records/publication.ts';
import { sha256Hex } from '../../../storage/sha256.ts';

/** A list as a reader and the next plan find it. */
interface Published {
  readonly layout: readonly PublishedPage[];
  /** Every page that was ever put, by cursor: nothing is taken away. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly head: string;
}

/** By slug, the version of a market that its item shows. */
type Markets = ReadonlyMap<string, number>;

const NOTHING: Published = { layout: [], bodies: new Map(), head: '' };

type Fixed = Pick<ListInput, 'generation' | 'pageSize'>;

/** What the publisher would hand over: items up to the end of the last page that is cut anew. */
function inputOf({ layout }: Published, markets: Markets, cutPages: number, fixed: Fixed): ListInput {
  const keptPages = layout.slice(cutPages);
  const end = keptPages[0]?.first;
  const slugs = [...markets.keys()].filter((slug) => end === undefined || slug < end).sort();
  const items = slugs.map((slug) => ({ slug, body: JSON.stringify({ slug, version: markets.get(slug) }) }));
  return { ...fixed, items, keptPages, replacedPages: layout.slice(0, cutPages) };
}

/** Pages that hold the last changed market and all before; every page when one joins or leaves. */
function pagesToCut({ layout }: Published, before: Markets, after: Markets): number {
  const slugs = [...new Set([...before.keys(), ...after.keys()])];
  if (slugs.some((slug) => before.has(slug) !== after.has(slug))) return layout.length;
  const last = slugs
    .filter((slug) => before.get(slug) !== after.get(slug))
    .sort()
    .at(-1);
  return layout.filter((page) => last !== undefined && page.first <= last).length;
}

function publishPlan(before: Published, input: ListInput, plan: ListPlan): Published {
  const bodies = new Map(before.bodies);
  for (const { page, body, nextCursor, isNew } of plan.cutPages) {
    // Put last to first: what a page names is there before it.
    if (nextCursor !== null) expect(bodies.has(nextCursor)).toBe(true);
    if (isNew) bodies.set(page.cursor, body);
    else expect(bodies.get(page.cursor)).toBe(body);
  }
  expect(plan.layout.slice(plan.cutPages.length)).toEqual(input.keptPages);
  const now = new Set(plan.layout.map(({ cursor }) => cursor));
  const dropped = before.layout.filter(({ cursor }) => !now.has(cursor));
  expect(new Set(plan.unlinked)).toEqual(new Set(dropped));
  return { layout: plan.layout, bodies, head: plan.head.body };
}

interface WalkedPage {
  readonly cursor: string | null;
  readonly items: readonly (readonly [string, number])[];
}

function walk({ head, bodies }: Published): readonly WalkedPage[] {
  const walked: WalkedPage[] = [];
  let cursor: string | null = null;
  for (let body = head; ; ) {
    const page = JSON.parse(body) as {
      data: { slug: string; version: number }[];
      page: { nextCursor: string | null };
    };
    walked.push({ cursor, items: page.data.map(({ slug, version }) => [slug, version]) });
    cursor = page.page.nextCursor;
    if (cursor === null) return walked;
    body = bodies.get(cursor) as string;
    expect(cursor).toBe(pageCursor(Number(cursor.split('-')[0]), sha256Hex(body)));
  }
}

/** Each slug once, in order, in its newest version; every page but the last full, and none empty but an only one. */
function expectWhole(published: Published, markets: Markets, pageSize: number): void {
  const walked = walk(published);
  const expected = [...markets].sort(([left], [right]) => (left < right ? -1 : 1));
  expect(walked.flatMap(({ items }) => items)).toEqual(expected);
  expect(walked.slice(0, -1).filter(({ items }) => items.length !== pageSize)).toEqual([]);
  if (walked.length > 1) expect(walked.at(-1)?.items.length).toBeGreaterThan(0);
  const [, ...pages] = walked;
  expect(published.layout.map(({ cursor, first, last }) => ({ cursor, first, last }))).toEqual(
    pages.map(({ cursor, items }) => ({ cursor, first: items[0]?.[0], last: items.at(-1)?.[0] })),
  );
}

interface Step {
  /** Markets that change, or join. */
  readonly put: readonly string[];
  readonly remove: readonly string[];
}

const pageSizes = fc.integer({ min: 1, max: 4 });
/** Also such as only the right order tells apart: "a-" before "a0" before "aa". */
const slugs = fc.stringMatching(/^[a-c0-2]{1,2}(-[a-c0-2])?$/);
const someSlugs = fc.uniqueArray(slugs, { maxLength: 8 });
const history: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({ put: someSlugs, remove: someSlugs }), {
  minLength: 1,
  maxLength: 8,
});

function publishSteps(steps: readonly Step[], pageSize: number, look?: (now: Published, markets: Markets) => void) {
  let published = NOTHING;
  let markets: Markets = new Map();
  for (const [index, { put, remove }] of steps.entries()) {
    const after = new Map(markets);
    for (const slug of remove) after.delete(slug);
    for (const slug of put) after.set(slug, index);
    const fixed = { generation: index + 1, pageSize };
    const input = inputOf(published, after, pagesToCut(published, markets, after), fixed);
    published = publishPlan(published, input, planList(input));
    markets = after;
    look?.(published, markets);
  }
  return { published, markets };
}

describe('planList', () => {
  test('however markets came, changed and went: each slug once, in order, pages full, every link good', () => {
    fc.assert(
      fc.property(history, pageSizes, (steps, pageSize) => {
        publishSteps(steps, pageSize, (now, markets) => expectWhole(now, markets, pageSize));
      }),
    );
  });

  test('a list that changed step by step is cut as one from scratch, but for the generations in its cursors', () => {
    fc.assert(
      fc.property(history, pageSizes, (steps, pageSize) => {
        const { published, markets } = publishSteps(steps, pageSize);
        const input = inputOf(NOTHING, markets, 0, { generation: 99, pageSize });
        const scratch = publishPlan(NOTHING, input, planList(input));
        const items = (list: Published) => walk(list).map((page) => page.items);
        expect(items(published)).toEqual(items(scratch));
      }),
    );
  });

  test('pages behind the last change keep their cursors; all before it get new ones', () => {
    fc.assert(
      fc.property(history, fc.nat(), pageSizes, (steps, pick, pageSize) => {
        const { published: before, markets } = publishSteps(steps, pageSize);
        fc.pre(markets.size > 0);
        const all = [...markets.keys()].sort();
        const changed = all[pick % all.length] as string;
        const after = new Map([...markets, [changed, -1]]);
        const cut = pagesToCut(before, markets, after);
        const plan = planList(inputOf(before, after, cut, { generation: 50, pageSize }));
        const pageOfChange = Math.floor(all.indexOf(changed) / pageSize);
        expect(cut).toBe(pageOfChange);
        expect(plan.layout.slice(pageOfChange)).toEqual(before.layout.slice(pageOfChange));
        expect(plan.layout.slice(0, pageOfChange).filter(({ cursor }) => !cursor.startsWith('50-'))).toEqual([]);
        expect(plan.cutPages.map(({ isNew }) => isNew)).toEqual(Array(pageOfChange).fill(true));
      }),
    );
  });

  test('the same markets again, from wherever they are cut, give the same bytes and nothing new', () => {
    fc.assert(
      fc.property(history, fc.nat({ max: 20 }), pageSizes, (steps, cut, pageSize) => {
        const { published, markets } = publishSteps(steps, pageSize);
        const input = inputOf(published, markets, cut, { generation: 50, pageSize });
        const plan = planList(input);
        expect(plan.head.body).toBe(published.head);
        expect(plan.cutPages.filter(({ isNew }) => isNew)).toEqual([]);
        expect(plan.layout).toEqual(published.layout);
        expect(plan.unlinked).toEqual([]);
        expect(planList(input)).toEqual(plan);
      }),
    );
  });

  test('a list without a market is one empty page', () => {
    const input = inputOf(NOTHING, new Map(), 0, { generation: 1, pageSize: 3 });
    expect(walk(publishPlan(NOTHING, input, planList(input)))).toEqual([{ cursor: null, items: [] }]);
  });
});
