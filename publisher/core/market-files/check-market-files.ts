/** What must hold of the files of markets: they show what the bodies show, byte for byte. */

import { type MarkedPrices, RecentPrices } from '../../../contract/bodies/recent-prices.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { moneyTexts } from '../../../contract/values/money-texts.ts';
import { checkHeaders } from '../../verify/check-body.ts';
import type { CheckContext, LoggedMarket, ProjectionCheck } from '../../verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../verify/reader.ts';
import { marketBody } from '../bodies/render.ts';
import {
  type FileInput,
  type FilesOfMarkets,
  type MarketFileKind,
  type MarketTexts,
  urlOfFile,
} from './files-of-markets.ts';

export function checkMarketFiles(files: FilesOfMarkets, { reader, snapshot }: CheckContext): ProjectionCheck {
  if (snapshot?.projections?.includes(files.name) !== true) return {};
  return {
    async market({ market: { value }, history: { observations }, findings }) {
      // Of two generations: the next walk looks again.
      if (observations.length !== value.history.count) return;
      const prices = new RecentPrices();
      for (const row of observations) prices.add(row, () => (row.kind === 'money' ? row.decimal : null));
      const answers = await readFiles(reader, files, value.slug);
      for (const { kind, url, answer, expected } of await expectedOf(
        files,
        value,
        prices.markedEntry(value.slug),
        answers,
      )) {
        if (expected === undefined) {
          if (answer.status === 200) findings.add(url, 'file', 'is not a file that the market has');
        } else if (answer.status !== 200) findings.add(url, 'status', `answered ${answer.status}, expected 200`);
        else {
          checkHeaders(findings, url, answer, PUBLIC_OBJECTS[kind].contentType);
          if (textOf(answer) !== expected) findings.add(url, 'file', 'shows something else than the market');
        }
      }
    },
  };
}

/** The bodies are those of the log. */
export async function checkLoggedMarketFiles(
  files: FilesOfMarkets,
  { reader, findings, slug, folded, isStated }: LoggedMarket,
): Promise<void> {
  const isPublished = isStated(files.name);
  if (isPublished === false) return;
  const answers = await readFiles(reader, files, slug);
  if (folded.kind === 'removed') {
    const document = canonicalJson(removedMarketDocument(folded.removal));
    for (const { url, answer } of answers) {
      const isRight = answer.status === 404 || (answer.status === 410 && textOf(answer) === document);
      if (!isRight) findings.add(url, 'not-in-log', 'is not the document of the removed market');
    }
    return;
  }
  const { revision, record, observations } = folded;
  const market = JSON.parse(marketBody(slug, revision, record(null))) as Market;
  const prices = new RecentPrices();
  for (const { observation } of observations.toReversed()) {
    prices.add(observation, () =>
      observation.kind === 'money'
        ? moneyTexts(observation.amountMinor, observation.currency, market.unit.quantity).decimal
        : null,
    );
  }
  for (const { url, answer, expected } of await expectedOf(files, market, prices.markedEntry(slug), answers)) {
    if (answer.status === 404 && (expected === undefined || isPublished === null)) continue;
    if (answer.status !== 200 || textOf(answer) !== expected)
      findings.add(url, 'not-in-log', `answers ${answer.status}, or shows something else than the log gives`);
  }
}

interface ReadFile {
  readonly kind: MarketFileKind;
  readonly url: string;
  readonly answer: PublicResponse;
}

async function readFiles(reader: PublicReader, { kinds }: FilesOfMarkets, slug: string): Promise<readonly ReadFile[]> {
  return await Promise.all(
    kinds.map(async (kind) => {
      const url = urlOfFile(kind, slug);
      return { kind, url, answer: await reader(url) };
    }),
  );
}

async function expectedOf(
  { load }: FilesOfMarkets,
  market: FileInput['market'],
  recent: MarkedPrices,
  answers: readonly ReadFile[],
): Promise<readonly (ReadFile & { readonly expected: string | undefined })[]> {
  const { textsOf, settingsIn } = await load();
  const found: MarketTexts = Object.fromEntries(
    answers.flatMap(({ kind, answer }) => (answer.status === 200 ? [[kind, textOf(answer)]] : [])),
  );
  const none = { readBaseUrl: null, projections: new Set<Projection>(), frame: null };
  const texts = textsOf({ market, recent, ...none, ...settingsIn?.(found) });
  return answers.map((read) => ({ ...read, expected: texts[read.kind] }));
}

function textOf({ body }: PublicResponse): string {
  return Buffer.from(body).toString('utf8');
}
