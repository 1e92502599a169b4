/** Checks the files of markets: byte for byte, they must follow from the bodies. */
import type { Projection } from '../../../contract/files/projections.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { bodyText, checkFile, checkGone } from '../../verify/check-file.ts';
import type { MarketBodies } from '../../verify/projection-check.ts';
import { recentPricesOf } from '../../verify/shown-market.ts';
import { type FilesOfMarkets, type MarketTexts, urlOfFile } from './files-of-markets.ts';

export async function checkMarketFiles({ name, kinds, load }: FilesOfMarkets, bodies: MarketBodies): Promise<void> {
  const { reader, slug, shown, removal, isStated } = bodies;
  const isPublished = isStated(name);
  if (isPublished === false) return;
  const answers = await Promise.all(
    kinds.map(async (kind) => {
      const url = urlOfFile(kind, slug);
      return { kind, url, answer: await reader(url) };
    }),
  );
  if (removal !== null) for (const { url, answer } of answers) checkGone(bodies, url, answer, removal);
  if (shown === null) return;
  const { textsOf, settingsIn } = await load();
  const found: MarketTexts = Object.fromEntries(
    answers.flatMap(({ kind, answer }) => (answer.status === 200 ? [[kind, bodyText(answer)]] : [])),
  );
  const none = { readBaseUrl: null, projections: new Set<Projection>(), frame: null };
  const recent = recentPricesOf(shown).markedEntry(slug);
  const texts = textsOf({ market: shown.market, recent, ...none, ...settingsIn?.(found) });
  for (const { kind, url, answer } of answers) {
    if (answer.status === 404 && isPublished === null) continue;
    checkFile(bodies, url, answer, PUBLIC_OBJECTS[kind].contentType, texts[kind]);
  }
}
