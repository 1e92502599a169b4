/** Remembers the cursors that readers were given, to check the sweep. */
import { expect } from 'vitest';
import { historyUrl, MARKETS_URL } from '../../contract/files/routes.ts';
import { PAGE_RETENTION_SECONDS } from '../../publisher/kernel/sweep.ts';
import { readerOf, type World } from './world.ts';

/** Each URL with a cursor that readers are given now, with its bytes. */
async function cursorPages(world: World): Promise<Map<string, string>> {
  const reader = world.read;
  const pages = new Map<string, string>();
  const follow = async (url: string): Promise<string[]> => {
    const slugs: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const address = cursor === undefined ? url : `${url}?cursor=${cursor}`;
      const text = Buffer.from((await reader(address)).body).toString('utf8');
      if (cursor !== undefined) pages.set(address, text);
      const page = JSON.parse(text) as { data: { slug: string }[]; page: { nextCursor: string | null } };
      slugs.push(...page.data.map(({ slug }) => slug));
      cursor = page.page.nextCursor;
    }
    return slugs;
  };
  for (const slug of await follow(MARKETS_URL)) await follow(historyUrl(slug));
  return pages;
}

/** Follows the generations of a world, and knows how long each cursor must work. */
export class Witness {
  readonly #world: World;
  #current = new Map<string, string>();
  readonly #replaced = new Map<string, { body: string; untilMs: number }>();

  constructor(world: World) {
    this.#world = world;
  }

  async noteGeneration(): Promise<void> {
    const now = await cursorPages(this.#world);
    for (const [url, body] of this.#current) {
      if (!now.has(url))
        this.#replaced.set(url, { body, untilMs: this.#world.clock.nowMs + PAGE_RETENTION_SECONDS * 1000 });
    }
    this.#current = now;
  }

  /** The number of superseded history pages that must still exist. */
  retainedOfHistories(): number {
    const ofHistories = [...this.#replaced].filter(([url]) => !url.startsWith(`${MARKETS_URL}?`));
    return ofHistories.filter(([, { untilMs }]) => untilMs >= this.#world.clock.nowMs).length;
  }

  /** Each cursor works as long as it must; after a sweep, no longer. */
  async expectKept(swept: boolean): Promise<void> {
    const reader = readerOf(this.#world.objects);
    for (const [url, body] of this.#current) {
      expect(Buffer.from((await reader(url)).body).toString('utf8')).toBe(body);
    }
    for (const [url, { body, untilMs }] of this.#replaced) {
      const response = await reader(url);
      if (untilMs >= this.#world.clock.nowMs) expect(Buffer.from(response.body).toString('utf8')).toBe(body);
      else if (swept) expect(response.status).toBe(404);
    }
  }
}
