/**
 * Compares the files of newest and of last prices with the log. They have the list's cadence, so each may show a market at an
 * earlier revision, but only as the log had it then, and not for too long.
 */

import { LATEST_CSV_HEADER, latestCsvRow, latestEntry } from '../../../contract/bodies/latest-entries.ts';
import { RecentPrices } from '../../../contract/bodies/recent-prices.ts';
import { csvFileAt, type FileAt, generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { LATEST_MARKETS_MAX, RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { LATEST_CSV_URL, LATEST_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { moneyTexts } from '../../../contract/values/money-texts.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { marketBody } from '../../core/bodies/render.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import type { LoggedCheck, LoggedContext } from '../../verify/projection-check.ts';

export async function checkLoggedPrices(context: LoggedContext): Promise<LoggedCheck> {
  return await new LoggedPrices(context).read();
}

interface FileForm {
  readonly url: string;
  readonly projection: Projection;
  readonly marketsMax: number;
  /** The rows by slug, as texts. */
  readonly read: (text: string) => Iterable<readonly [slug: string, row: string]>;
  readonly write: (rows: readonly string[]) => FileAt;
  readonly rowOf: (market: Market, prices: RecentPrices) => string;
}

const JSON_FILE: Pick<FileForm, 'read' | 'write'> = {
  read: (text) => {
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly slug: string }[] };
    return data.map((entry) => [entry.slug, canonicalJson(entry as Json)] as const);
  },
  write: (rows) => jsonFileAt(`"data":[${rows.join(',')}]`),
};

const FORMS: readonly FileForm[] = [
  {
    ...JSON_FILE,
    url: LATEST_URL,
    projection: 'latest',
    marketsMax: LATEST_MARKETS_MAX,
    rowOf: (market, { recordedAt }) => canonicalJson(latestEntry(market, recordedAt) as unknown as Json),
  },
  {
    url: LATEST_CSV_URL,
    projection: 'latest',
    marketsMax: LATEST_MARKETS_MAX,
    read: (text) => {
      const generation = generationOfFile(text);
      const end = generation === null ? '' : `,${generation}`;
      const [, ...lines] = text.split('\r\n').slice(0, -1);
      return lines.map((line) => [line.slice(0, line.indexOf(',')), line.slice(0, line.length - end.length)] as const);
    },
    write: (rows) => csvFileAt(LATEST_CSV_HEADER, rows),
    rowOf: (market, { recordedAt }) => latestCsvRow(latestEntry(market, recordedAt)),
  },
  {
    ...JSON_FILE,
    url: RECENT_URL,
    projection: 'recent',
    marketsMax: RECENT_MARKETS_MAX,
    rowOf: ({ slug }, prices) => canonicalJson(prices.entryWithYear(slug) as unknown as Json),
  },
];

/** The files that are there. */
class LoggedPrices implements LoggedCheck {
  readonly #context: LoggedContext;
  readonly #missing: FileForm[] = [];
  readonly #files: { readonly form: FileForm; readonly rows: Map<string, string> }[] = [];
  readonly #checked = new Set<string>();
  #shown = 0;

  constructor(context: LoggedContext) {
    this.#context = context;
  }

  async read(): Promise<this> {
    const { reader, isKept, listed, isAskedFor } = this.#context;
    for (const form of FORMS) {
      // A file that has become too long stays as it was until the sweep removes it, within the hour. A copy leaves it out.
      if (!isAskedFor(form.projection) || (isKept && listed > form.marketsMax)) continue;
      const { status, body } = await reader(form.url);
      if (status !== 200) this.#missing.push(form);
      else this.#take(form, Buffer.from(body).toString('utf8'));
    }
    return this;
  }

  /** A file in another form, order, or with a market twice is a finding: its rows are not compared then. */
  #take(form: FileForm, text: string): void {
    try {
      const rows = new Map(form.read(text));
      const slugs = [...rows.keys()];
      const isOrdered = slugs.every((slug, index) => index === 0 || (slugs[index - 1] as string) < slug);
      if (isOrdered && form.write([...rows.values()])(generationOfFile(text)) === text) {
        this.#files.push({ form, rows });
        return;
      }
    } catch {
      // Not JSON, or something else than rows.
    }
    this.#context.findings.add(form.url, 'not-in-log', 'has another form than the rows of markets in the log');
  }

  readonly shown = (slug: string): string => sha256Hex(this.#files.map(({ rows }) => rows.get(slug) ?? '').join('\n'));

  readonly skip = (slug: string, isShown: boolean): void => {
    this.#checked.add(slug);
    if (isShown) this.#shown++;
  };

  readonly market: NonNullable<LoggedCheck['market']> = async (past, folded, listed) => {
    const { findings, isKept, lateness } = this.#context;
    const { slug } = past;
    const current = folded.kind === 'shown' ? folded : null;
    this.skip(slug, current !== null);
    const ofList = isKept ? listed() : [];
    for (const { form, rows } of this.#files) {
      const row = rows.get(slug);
      const isShown = (market: FoldedMarket) => row !== undefined && isRowOf(form, slug, market, row);
      if (isKept) {
        const isRight = row === undefined ? ofList.length === 0 : ofList.some(isShown);
        if (!isRight) findings.add(form.url, 'not-in-log', `${slug} differs from the list`);
      } else if (row === undefined) {
        if (current !== null && past.isLateIfMissing(lateness)) findings.add(form.url, 'time', `lacks ${slug}`);
      } else if (!(current !== null && isShown(current)) && !past.wasShown(lateness, isShown)) {
        findings.add(form.url, 'not-in-log', `${slug} differs from the log, or is too old`);
      }
    }
  };

  readonly end = async (): Promise<void> => {
    const { findings, miss } = this.#context;
    for (const { form, rows } of this.#files) {
      for (const slug of rows.keys())
        if (!this.#checked.has(slug)) findings.add(form.url, 'not-in-log', `shows ${slug}, which the log lacks`);
    }
    for (const { url, projection, marketsMax } of this.#missing)
      if (this.#shown > 0 && this.#shown <= marketsMax) miss(projection, url);
  };
}

function isRowOf(form: FileForm, slug: string, folded: FoldedMarket, row: string): boolean {
  return form.rowOf(...shownOf(slug, folded)) === row;
}

/** What a file beside the list shows of a market: its item without a representative, and its last prices. */
function shownOf(slug: string, { revision, record, observations }: FoldedMarket): [Market, RecentPrices] {
  const prices = new RecentPrices();
  const { quantity } = record(null).unit;
  for (let at = observations.length - 1; at >= 0 && !prices.isWhole; at--) {
    const { observation } = observations[at] as (typeof observations)[number];
    const decimalOf = () =>
      observation.kind === 'money' ? moneyTexts(observation.amountMinor, observation.currency, quantity).decimal : null;
    prices.add(observation, decimalOf);
  }
  return [JSON.parse(marketBody(slug, revision, record(null))) as Market, prices];
}
