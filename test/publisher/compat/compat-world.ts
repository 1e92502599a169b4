/** A small deployment with daily files for other programs. */
import type { MarketQuotes } from '../../../contract/bodies/compat.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import type { LogSettings } from '../../../publisher/dependencies.ts';
import { type CompatOptions, makeCompat } from '../../../publisher/projections/compat/make-compat.ts';
import { partOf } from '../../../publisher/projections/compat/names.ts';
import { withLog } from '../log/test-log.ts';
import { createWorld } from '../world.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const COMPAT = '/api/v1/compat';

/** The files with the prices of a market. */
export const PATHS = (slug: string) => ({
  beancount: `/beancount/${partOf(slug)}.beancount`,
  hledger: `/hledger/${partOf(slug)}.journal`,
  quotes: `/quotes/${partOf(slug)}.json`,
  changes: `/changes/${partOf(slug)}.json`,
});

export function compatWorld(projections: readonly Projection[] = ['compat'], log?: LogSettings) {
  const plain = createWorld();
  const signed = log === undefined ? plain.dependencies : withLog(plain.dependencies, log);
  const world = plain.with({ ...signed, projections: new Set(projections) });
  const file = async (path: string): Promise<string> => {
    const { status, body } = await world.read(COMPAT + path);
    return status === 200 ? Buffer.from(body).toString('utf8') : String(status);
  };
  const section = async (format: 'beancount' | 'hledger', slug: string): Promise<string> => {
    const prices = await file(PATHS(slug)[format]);
    if (/^\d+$/.test(prices)) return prices;
    const from = prices.split(/^(?=; From )/m).find((each) => each.startsWith(`; From /api/v1/markets/${slug},`));
    return from ?? '';
  };
  return {
    ...world,
    /** The text of a file, by its path below the URL of these files; its status if it is not there. */
    file,
    fileJson: async <Value>(path: string): Promise<Value> => JSON.parse(await file(path)) as Value,
    /** The section of a market in its price file; the status if there is no file. */
    section,
    /** The lines of it that are no comments. */
    lines: async (format: 'beancount' | 'hledger', slug: string): Promise<string[]> =>
      (await section(format, slug)).split('\n').filter((line) => /^[0-9P]/.test(line)),
    quotes: async (slug: string) =>
      (JSON.parse(await file(PATHS(slug).quotes)) as { readonly [slug: string]: MarketQuotes })[slug],
    /** Publishes everything, and makes the files of the next day. Gives the paths of those that it put. */
    async nextDay(more: Partial<CompatOptions> = {}): Promise<string[]> {
      await world.publishAll();
      world.clock.nowMs += DAY_MS;
      world.objects.resetCounts();
      await makeCompat({ storage: world.dependencies, ...more });
      return world.objects.puts.map(({ key }) => key.slice(`public${COMPAT}`.length));
    },
  };
}
