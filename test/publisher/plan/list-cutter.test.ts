/** Properties of all lists: changed by one generation at a time, and cut from the beginning. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageCursor } from '../../../contract/files/cursors.ts';
import {
  type CutListPage,
  ItemsMiscounted,
  ListCutter,
  type ListHead,
  type ListInput,
  type ListItem,
} from '../../../publisher/core/lists/list-cutter.ts';
import type { ListedPage } from '../../../publisher/kernel/list-layout.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';

/** A list, as a reader and the next plan find it. */
interface Published {
  readonly layout: readonly ListedPage[];
  /** All pages that were ever put, by cursor. None is removed. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly head: string;
}

/** The version in each market's item, by slug. */
type Markets = ReadonlyMap<string, number>;

const NOTHING: Published = { layout: [], bodies: new Map(), head: '' };

type Fixed = Pick<ListInput, 'generation' | 'pageSize'>;

/** The input of one cut. */
interface Input extends Omit<ListInput, 'items' | 'reusable'> {
  /** In order. */
  readonly items: readonly ListItem[];
  readonly replaced: readonly ListedPage[];
  readonly kept: readonly ListedPage[];
}

interface Plan {
  /** Last first. */
  readonly cutPages: readonly CutListPage[];
  readonly head: ListHead;
  readonly layout: readonly ListedPage[];
  readonly superseded: readonly string[];
}

/** The publisher's input: items up to the end of the last page that is cut again. */
function inputOf({ layout }: Published, markets: Markets, cutPages: number, fixed: Fixed): Input {
  const kept = layout.slice(cutPages);
  const end = kept[0]?.first;
  const slugs = [...markets.keys()].filter((slug) => end === undefined || slug < end).sort();
  const items = slugs.map((slug) => ({ slug, body: JSON.stringify({ slug, version: markets.get(slug) }) }));
  const keptCursor = kept[0]?.cursor ?? null;
  return { ...fixed, total: items.length, items, keptCursor, replaced: layout.slice(0, cutPages), kept };
}

/** The items in pieces of this size, the last piece first. */
async function* pieces(items: readonly ListItem[], size: number): AsyncGenerator<readonly ListItem[]> {
  for (let end = items.length; end > 0; end -= size) yield items.slice(Math.max(0, end - size), end);
}

async function planList({ items, replaced, kept, ...input }: Input, pieceSize = 3): Promise<Plan> {
  const reusable = new Map(replaced.map((page) => [page.digest, page]));
  const cutter = new ListCutter({ ...input, items: pieces(items, pieceSize), reusable });
  const cutPages: CutListPage[] = [];
  for await (const page of cutter.pages()) cutPages.push(page);
  const head = await cutter.finish();
  const layout = [...cutPages.map(({ page }) => page).reverse(), ...kept];
  return { cutPages, head, layout, superseded: [...reusable.values()].map(({ cursor }) => cursor) };
}

/** The pages up to the last changed market; all pages if a market joins or leaves. */
function pagesToCut({ layout }: Published, before: Markets, after: Markets): number {
  const slugs = [...new Set([...before.keys(), ...after.keys()])];
  if (slugs.some((slug) => before.has(slug) !== after.has(slug))) return layout.length;
  const last = slugs
    .filter((slug) => before.get(slug) !== after.get(slug))
    .sort()
    .at(-1);
  return layout.filter((page) => last !== undefined && page.first <= last).length;
}

function publishPlan(before: Published, plan: Plan): Published {
  const bodies = new Map(before.bodies);
  for (const { page, body, nextCursor, isNew } of plan.cutPages) {
    // Put from the last to the first, so that each page names an existing one.
    if (nextCursor !== null) expect(bodies.has(nextCursor)).toBe(true);
    if (isNew) bodies.set(page.cursor, body);
    else expect(bodies.get(page.cursor)).toBe(body);
  }
  const now = new Set(plan.layout.map(({ cursor }) => cursor));
  const superseded = before.layout.filter(({ cursor }) => !now.has(cursor));
  expect(new Set(plan.superseded)).toEqual(new Set(superseded.map(({ cursor }) => cursor)));
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
      page: { next: string | null; nextCursor: string | null };
    };
    walked.push({ cursor, items: page.data.map(({ slug, version }) => [slug, version]) });
    const folder = cursor === null ? 'markets/pages/' : '';
    cursor = page.page.nextCursor;
    expect(page.page.next).toBe(cursor && `${folder}${cursor}.json`);
    if (cursor === null) return walked;
    body = bodies.get(cursor) as string;
    expect(cursor).toBe(pageCursor(Number(cursor.split('-')[0]), sha256Hex(body)));
  }
}

/** Each slug once, in order, in its newest version. All pages but the last are full; only a single page may be empty. */
function expectWhole(published: Published, markets: Markets, pageSize: number): void {
  const walked = walk(published);
  const expected = [...markets].sort(([left], [right]) => (left < right ? -1 : 1));
  expect(walked.flatMap(({ items }) => items)).toEqual(expected);
  expect(walked.slice(0, -1).filter(({ items }) => items.length !== pageSize)).toEqual([]);
  if (walked.length > 1) expect(walked.at(-1)?.items.length).toBeGreaterThan(0);
  const [, ...pages] = walked;
  expect(published.layout.map(({ cursor, first }) => ({ cursor, first }))).toEqual(
    pages.map(({ cursor, items }) => ({ cursor, first: items[0]?.[0] })),
  );
}

interface Step {
  /** Markets that change or join. */
  readonly put: readonly string[];
  readonly remove: readonly string[];
}

const pageSizes = fc.integer({ min: 1, max: 4 });
const pieceSizes = fc.integer({ min: 1, max: 9 });
/** With slugs whose order is easy to get wrong: "a-" before "a0" before "aa". */
const slugs = fc.stringMatching(/^[a-c0-2]{1,2}(-[a-c0-2])?$/);
const someSlugs = fc.uniqueArray(slugs, { maxLength: 8 });
const history: fc.Arbitrary<readonly Step[]> = fc.array(fc.record({ put: someSlugs, remove: someSlugs }), {
  minLength: 1,
  maxLength: 8,
});

async function publishSteps(
  steps: readonly Step[],
  pageSize: number,
  look?: (now: Published, markets: Markets) => void,
): Promise<{ published: Published; markets: Markets }> {
  let published = NOTHING;
  let markets: Markets = new Map();
  for (const [index, { put, remove }] of steps.entries()) {
    const after = new Map(markets);
    for (const slug of remove) after.delete(slug);
    for (const slug of put) after.set(slug, index);
    const fixed = { generation: index + 1, pageSize };
    const input = inputOf(published, after, pagesToCut(published, markets, after), fixed);
    published = publishPlan(published, await planList(input));
    markets = after;
    look?.(published, markets);
  }
  return { published, markets };
}

describe('a list that is cut', () => {
  test('however markets join, change and leave: each slug is there once, in order; pages are full; each link works', async () => {
    await fc.assert(
      fc.asyncProperty(history, pageSizes, async (steps, pageSize) => {
        await publishSteps(steps, pageSize, (now, markets) => expectWhole(now, markets, pageSize));
      }),
    );
  });

  test('changed step by step, it equals one that is cut from the beginning, apart from the generations in cursors', async () => {
    await fc.assert(
      fc.asyncProperty(history, pageSizes, async (steps, pageSize) => {
        const { published, markets } = await publishSteps(steps, pageSize);
        const input = inputOf(NOTHING, markets, 0, { generation: 99, pageSize });
        const scratch = publishPlan(NOTHING, await planList(input));
        const items = (list: Published) => walk(list).map((page) => page.items);
        expect(items(published)).toEqual(items(scratch));
      }),
    );
  });

  test('pages after the last change keep their cursors; all earlier ones get new cursors', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), pageSizes, async (steps, pick, pageSize) => {
        const { published: before, markets } = await publishSteps(steps, pageSize);
        fc.pre(markets.size > 0);
        const all = [...markets.keys()].sort();
        const changed = all[pick % all.length] as string;
        const after = new Map([...markets, [changed, -1]]);
        const cut = pagesToCut(before, markets, after);
        const plan = await planList(inputOf(before, after, cut, { generation: 50, pageSize }));
        const pageOfChange = Math.floor(all.indexOf(changed) / pageSize);
        expect(cut).toBe(pageOfChange);
        expect(plan.layout.slice(pageOfChange)).toEqual(before.layout.slice(pageOfChange));
        expect(plan.layout.slice(0, pageOfChange).filter(({ cursor }) => !cursor.startsWith('50-'))).toEqual([]);
        expect(plan.cutPages.map(({ isNew }) => isNew)).toEqual(Array(pageOfChange).fill(true));
      }),
    );
  });

  test('the same markets give the same bytes again, from whichever page they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat({ max: 20 }), pageSizes, async (steps, cut, pageSize) => {
        const { published, markets } = await publishSteps(steps, pageSize);
        const plan = await planList(inputOf(published, markets, cut, { generation: 50, pageSize }));
        expect(plan.head.body).toBe(published.head);
        expect(plan.cutPages.filter(({ isNew }) => isNew)).toEqual([]);
        expect(plan.layout).toEqual(published.layout);
        expect(plan.superseded).toEqual([]);
      }),
    );
  });

  test('does not depend on the pieces in which its items arrive', async () => {
    await fc.assert(
      fc.asyncProperty(history, pageSizes, pieceSizes, async (steps, pageSize, pieceSize) => {
        const { markets } = await publishSteps(steps, pageSize);
        const input = inputOf(NOTHING, markets, 0, { generation: 1, pageSize });
        expect(await planList(input, pieceSize)).toEqual(await planList(input, Number.POSITIVE_INFINITY));
      }),
    );
  });

  test('is refused if it has more items than were counted, or fewer', async () => {
    await fc.assert(
      fc.asyncProperty(history, pageSizes, pieceSizes, fc.integer({ min: -9, max: 9 }), async (...drawn) => {
        const [steps, pageSize, pieceSize, difference] = drawn;
        const { markets } = await publishSteps(steps, pageSize);
        const input = inputOf(NOTHING, markets, 0, { generation: 1, pageSize });
        const total = input.total + difference;
        fc.pre(difference !== 0 && total >= 0);
        await expect(planList({ ...input, total }, pieceSize)).rejects.toThrow(ItemsMiscounted);
      }),
    );
  });

  test('takes a piece of 200,000 items: more than a call has arguments', async () => {
    const items = Array.from({ length: 200_000 }, (_, index) => ({ slug: `m${index}`, body: '{}' }));
    const fixed = { generation: 1, pageSize: 100_000, keptCursor: null, reusable: new Map() };
    const cutter = new ListCutter({ ...fixed, total: items.length, items: pieces(items, items.length) });
    const cut: string[] = [];
    for await (const { page } of cutter.pages()) cut.push(page.first);
    await cutter.finish();
    expect(cut).toEqual(['m100000']);
  });

  test('without markets it is one empty page', async () => {
    const input = inputOf(NOTHING, new Map(), 0, { generation: 1, pageSize: 3 });
    expect(walk(publishPlan(NOTHING, await planList(input)))).toEqual([{ cursor: null, items: [] }]);
  });
});
