/**
 * Readers walk while the first region stops answering at random moments, and the second, which is behind, answers instead:
 * as an origin group does, request by request. The copy dies at random operations.
 */
import { afterAll, expect, test } from 'vitest';
import { MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { Superseded } from '../../../publisher/errors.ts';
import { restore } from '../../../publisher/repair/restore.ts';
import type { PublicReader, PublicResponse } from '../../../publisher/verify/reading/reader.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { Random } from '../../simulator/random.ts';
import { faultyStorage, ProcessDied } from '../faulty-storage.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, readerOf } from '../world.ts';
import { LEASE_MS, type TwoRegions, twoRegions } from './two-regions.ts';

const SEEDS = Array.from({ length: 12 }, (_, seed) => seed + 1);

const STEPS = ['define', 'append', 'append', 'append', 'correct', 'remove', 'restore'] as const;

class Simulation {
  readonly random: Random;
  readonly regions: TwoRegions = twoRegions(['log']);
  readonly slugs: string[] = [];
  /** By URL: the digests of all bodies that the first region has ever answered with. */
  readonly current = new Map<string, Set<string>>();
  /** The slugs of each list that was ever current, in order. */
  readonly lists = new Set<string>();
  isFirstDown = false;
  #day = 0;
  #named = 0;
  deaths = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** One request of a reader, at the moment at which the first region is as it is. */
  readonly edge: PublicReader = async (url) => {
    const { objects, second } = this.regions;
    const response = await readerOf(this.isFirstDown ? second : objects)(url);
    if (response.status === 200) {
      expect(this.current.get(url) ?? new Set(), `${url} was once current`).toContain(sha256Hex(response.body));
    }
    return response;
  };

  async change(): Promise<void> {
    const { random, regions, slugs } = this;
    const step = slugs.length < 5 ? 'define' : random.pick(STEPS);
    if (step === 'define') {
      // On both sides of `pages` in a listing.
      const slug = `${random.pick(['a', 'z'])}${random.int(10, 99)}-${this.#named++}`;
      await regions.ingest([market(slug), price(slug, 0, 1)]);
      slugs.push(slug);
    } else if (step === 'restore') {
      // The copy cannot follow it.
      await restore(regions.dependencies, { after: '', hasTime: () => true });
      await regions.ingest(
        slugs.map((slug) => price(slug, ++this.#day % 200, random.int(1, 1_000_000))),
        'correct',
      );
    } else if (step === 'remove') {
      await removeMarket(regions, slugs.splice(random.int(0, slugs.length - 1), 1)[0] as string);
    } else {
      const days = step === 'append' ? Array.from({ length: random.int(1, 6) }, () => ++this.#day) : [0];
      const slug = random.pick(slugs);
      const mode = step === 'append' ? 'append' : 'correct';
      await regions.ingest(
        days.map((day) => price(slug, day, random.int(1, 1_000_000))),
        mode,
      );
    }
    await regions.publishAll();
    regions.clock.nowMs += random.int(1_000, 90_000);
    await this.#note();
  }

  /** Remembers every URL of the first region, and the list. */
  async #note(): Promise<void> {
    const reader = readerOf(this.regions.objects);
    const remember = async (url: string): Promise<Loose> => {
      const { status, body } = await reader(url);
      expect(status).toBe(200);
      const digests = this.current.get(url) ?? new Set();
      this.current.set(url, digests.add(sha256Hex(body)));
      return JSON.parse(Buffer.from(body).toString('utf8')) as Loose;
    };
    const listed: string[] = [];
    await remember(SNAPSHOT_URL);
    for await (const { data } of pagesFrom(remember, MARKETS_URL)) listed.push(...data.map(({ slug }) => slug));
    this.lists.add(listed.join(' '));
    for (const slug of listed) {
      await remember(marketUrl(slug));
      for await (const _ of pagesFrom(remember, `${marketUrl(slug)}/history`));
    }
  }

  /** A round that may die, or that has little time. */
  async copy(): Promise<void> {
    const { random, regions } = this;
    const dies = random.chance(0.5) ? random.int(0, 60) : -1;
    let asked = 0;
    const most = random.int(1, 20);
    const faulty = faultyStorage(regions.ledger, regions.second, dies, async ({ what, run }) => {
      if (random.chance(0.5)) await run();
      this.deaths++;
      throw new ProcessDied(what);
    });
    await regions.copy({ second: faulty.objects, hasTime: () => asked++ < most }).catch((error: unknown) => {
      if (!(error instanceof ProcessDied || error instanceof Superseded)) throw error;
      regions.clock.nowMs += LEASE_MS + 1;
    });
  }

  /** Follows the pages, while anything happens between two requests. Null: it was told to start again. */
  async walk(url: string): Promise<readonly Item[] | null> {
    const items: Item[] = [];
    const read = async (page: string) => {
      const { status, body } = await this.edge(page);
      if (status !== 200) throw new StartAgain(status);
      return JSON.parse(Buffer.from(body).toString('utf8')) as Loose;
    };
    try {
      for await (const page of pagesFrom(read, url)) {
        items.push(...page.data);
        if (this.isFirstDown) await this.expectLinks(page.data);
        await this.happen();
      }
      return items;
    } catch (error) {
      if (!(error instanceof StartAgain)) throw error;
      expect([404, 410]).toContain(error.status);
      return null;
    }
  }

  /** The second region serves what its own page leads to, and it is not older than the page. */
  async expectLinks(items: readonly Item[]): Promise<void> {
    for (const { slug, revision } of items.filter((item) => item.slug !== undefined)) {
      const { status, body } = await this.edge(marketUrl(slug));
      expect([200, 410]).toContain(status);
      if (status === 410) continue;
      const found = JSON.parse(Buffer.from(body).toString('utf8')) as Item & { history: { count: number } };
      expect(found.revision).toBeGreaterThanOrEqual(revision);
      // A removal arrives at the history first, as in the first region.
      if ((await this.edge(`${marketUrl(slug)}/history`)).status === 410) continue;
      let count = 0;
      for await (const page of pagesFrom(async (url) => jsonOf(await this.edge(url)), `${marketUrl(slug)}/history`))
        count += page.data.length;
      expect(count).toBeGreaterThanOrEqual(found.history.count);
    }
  }

  async happen(): Promise<void> {
    const { random } = this;
    if (random.chance(0.3)) this.isFirstDown = !this.isFirstDown;
    if (random.chance(0.4)) await this.change();
    if (random.chance(0.4)) await this.copy();
  }
}

class StartAgain extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`answered ${status}`);
    this.status = status;
  }
}

interface Item {
  readonly slug: string;
  readonly revision: number;
}

interface Loose {
  readonly data: readonly Item[];
  readonly page: { readonly nextCursor: string | null };
}

function jsonOf({ status, body }: PublicResponse): Loose {
  expect(status).toBe(200);
  return JSON.parse(Buffer.from(body).toString('utf8')) as Loose;
}

async function* pagesFrom(read: (url: string) => Promise<Loose>, first: string): AsyncGenerator<Loose> {
  for (let url: string | null = first; url !== null; ) {
    const page: Loose = await read(url);
    yield page;
    url = page.page.nextCursor === null ? null : `${first}?cursor=${page.page.nextCursor}`;
  }
}

/** What the simulations have tried. */
const tried = { deaths: 0, whole: 0, again: 0 };

test.each(SEEDS)(
  'a reader of two regions gets pages of one list, or is told to start again (seed %i)',
  async (seed) => {
    const world = new Simulation(seed);
    for (let begun = 0; begun < 6; begun++) await world.change();
    while ((await world.regions.copy()).generation === 0);
    for (let walks = 0; walks < 12; walks++) {
      await world.happen();
      const items = await world.walk(MARKETS_URL);
      if (items === null) tried.again++;
      else tried.whole++;
      if (items !== null) expect([...world.lists]).toContain(items.map(({ slug }) => slug).join(' '));
    }
    tried.deaths += world.deaths;
    world.regions.clock.nowMs += LEASE_MS + 1;
    // The ledger may have been restored while everything was copied: then it is copied once more.
    for (let rounds = 0; rounds < 3; rounds++) await world.regions.copy();
    expect(await world.regions.copy()).toMatchObject({ behindMs: 0, isFilling: false });
    expect(await world.regions.faults({ settled: true })).toEqual([]);
  },
);

afterAll(() => {
  for (const count of Object.values(tried)) expect(count).toBeGreaterThan(3);
});
