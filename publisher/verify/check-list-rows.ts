/**
 * Compares what is published with the list's cadence with the log: the items of the list, and the files of newest and of
 * last prices. Each may show a market at an earlier revision, but only as the log had it then, and not for too long.
 */

import { latestCsv, latestEntry } from '../../contract/files/latest-entries.ts';
import { LATEST_MARKETS_MAX } from '../../contract/files/limits.ts';
import type { Projection } from '../../contract/files/projections.ts';
import { RECENT_MARKETS_MAX, RECENT_ROWS_MAX, RecentPrices } from '../../contract/files/recent-prices.ts';
import { LATEST_CSV_URL, LATEST_URL, MARKETS_URL, marketUrl, RECENT_URL } from '../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import type { Market } from '../../contract/values/market.ts';
import { moneyTexts } from '../../contract/values/money-texts.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { marketBody } from '../core/bodies/render.ts';
import type { FoldedMarket } from '../core/log/folded-market.ts';
import type { Findings } from './check-body.ts';
import { isNamed } from './check-folded.ts';
import type { Lateness, PastMarket } from './past-market.ts';
import type { PublicReader } from './reader.ts';

/** An item of the list, without its bytes: a long list would not fit into memory. */
export interface ListedItem {
  readonly revision: number;
  readonly digest: string;
  readonly name: string | null;
  readonly salt: string | null;
}

export function listedItem(market: Market): ListedItem {
  const { revision, representedBy: name, representedBySalt: salt = null } = market;
  return { revision, digest: sha256Hex(canonicalJson(market as unknown as Json)), name, salt };
}

/** @param past of the item's market */
export function checkItem(
  findings: Findings,
  item: ListedItem,
  past: PastMarket,
  current: FoldedMarket | null,
  lateness: Lateness,
): void {
  const { slug } = past;
  const { revision, digest, name, salt } = item;
  const candidates = current?.revision === revision ? [current] : past.at(revision);
  const representative = name === null ? null : { name, salt };
  const shown = candidates.find(({ representedBy, record }) => {
    if (!isNamed(representedBy, representative)) return false;
    return sha256Hex(marketBody(slug, revision, record(representative))) === digest;
  });
  if (shown === undefined) {
    findings.add(MARKETS_URL, 'not-in-log', `shows ${slug} otherwise than the log at revision ${revision}`);
  } else if (shown !== current && past.isLate(revision, shown.record(null).updatedAt, lateness)) {
    findings.add(MARKETS_URL, 'time', `still shows revision ${revision} of ${slug}`);
  }
}

interface FileForm {
  readonly url: string;
  readonly projection: Projection;
  readonly marketsMax: number;
  /** The rows by slug, as texts. */
  readonly read: (text: string) => Iterable<readonly [slug: string, row: string]>;
  readonly write: (rows: Iterable<string>) => string;
  readonly rowOf: (market: Market, prices: RecentPrices) => string;
}

const JSON_FILE: Pick<FileForm, 'read' | 'write'> = {
  read: (text) => {
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly slug: string }[] };
    return data.map((entry) => [entry.slug, canonicalJson(entry as Json)] as const);
  },
  write: (rows) => `{"data":[${[...rows].join(',')}]}`,
};

const CSV_HEADER = latestCsv([]);

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
      const lines = text.slice(CSV_HEADER.length).split(/(?<=\r\n)/);
      return (lines[0] === '' ? [] : lines).map((line) => [line.slice(0, line.indexOf(',')), line] as const);
    },
    write: (rows) => CSV_HEADER + [...rows].join(''),
    rowOf: (market, { recordedAt }) => latestCsv([latestEntry(market, recordedAt)]).slice(CSV_HEADER.length),
  },
  {
    ...JSON_FILE,
    url: RECENT_URL,
    projection: 'recent',
    marketsMax: RECENT_MARKETS_MAX,
    rowOf: ({ slug }, prices) => canonicalJson(prices.entry(slug) as unknown as Json),
  },
];

/** The files of newest and last prices that are there. */
export class ListRows {
  readonly #findings: Findings;
  readonly #missing: FileForm[] = [];
  readonly #files: { readonly form: FileForm; readonly rows: Map<string, string> }[] = [];
  readonly #checked = new Set<string>();

  private constructor(findings: Findings) {
    this.#findings = findings;
  }

  static async read(
    reader: PublicReader,
    findings: Findings,
    isAskedFor: (form: Pick<FileForm, 'projection' | 'marketsMax'>) => boolean,
  ): Promise<ListRows> {
    const found = new ListRows(findings);
    for (const form of FORMS) {
      if (!isAskedFor(form)) continue;
      const { status, body } = await reader(form.url);
      if (status !== 200) found.#missing.push(form);
      else found.#take(form, Buffer.from(body).toString('utf8'));
    }
    return found;
  }

  /** A file in another form, order, or with a market twice is a finding: its rows are not compared then. */
  #take(form: FileForm, text: string): void {
    try {
      const rows = new Map(form.read(text));
      const slugs = [...rows.keys()];
      const isOrdered = slugs.every((slug, index) => index === 0 || (slugs[index - 1] as string) < slug);
      if (isOrdered && form.write(rows.values()) === text) {
        this.#files.push({ form, rows });
        return;
      }
    } catch {
      // Not JSON, or something else than rows.
    }
    this.#findings.add(form.url, 'not-in-log', 'has another form than the rows of markets in the log');
  }

  /** Equal for equal rows of a market. */
  digestOf(slug: string): string {
    return sha256Hex(this.#files.map(({ rows }) => rows.get(slug) ?? '').join('\n'));
  }

  /** Of a market whose rows were checked before. */
  skip(slug: string): void {
    this.#checked.add(slug);
  }

  /** @param shown the market as the list shows it. Empty: the list leaves it out */
  checkOf(slug: string, shown: readonly FoldedMarket[]): void {
    this.#checked.add(slug);
    for (const { form, rows } of this.#files) {
      const row = rows.get(slug);
      const isRight = row === undefined ? shown.length === 0 : shown.some((folded) => isRowOf(form, slug, folded, row));
      if (!isRight) this.#findings.add(form.url, 'not-in-log', `shows ${slug} otherwise than the list`);
    }
  }

  /** @param current null: the market was removed */
  check(past: PastMarket, current: FoldedMarket | null, lateness: Lateness): void {
    const { slug } = past;
    this.#checked.add(slug);
    for (const { form, rows } of this.#files) {
      const row = rows.get(slug);
      if (row === undefined) {
        if (current !== null && past.isLateIfMissing(lateness)) this.#findings.add(form.url, 'time', `lacks ${slug}`);
      } else if (!this.#isOfLog(form, row, past, current, lateness)) {
        this.#findings.add(form.url, 'not-in-log', `shows ${slug} otherwise than the log, or as it was too long ago`);
      }
    }
  }

  #isOfLog(form: FileForm, row: string, past: PastMarket, current: FoldedMarket | null, lateness: Lateness): boolean {
    const isShown = (folded: FoldedMarket) => isRowOf(form, past.slug, folded, row);
    if (current !== null && isShown(current)) return true;
    for (const revision of past.revisions(lateness)) if (past.at(revision).some(isShown)) return true;
    return false;
  }

  /** After all markets. Returns the files that are not there. */
  end(): readonly Pick<FileForm, 'url' | 'projection' | 'marketsMax'>[] {
    for (const { form, rows } of this.#files) {
      for (const slug of rows.keys())
        if (!this.#checked.has(slug)) this.#findings.add(form.url, 'not-in-log', `shows ${slug}, which the log lacks`);
    }
    return this.#missing;
  }
}

function isRowOf(form: FileForm, slug: string, folded: FoldedMarket, row: string): boolean {
  return form.rowOf(...shownOf(slug, folded)) === row;
}

/** What a file beside the list shows of a market: its item without a representative, and its last prices. */
function shownOf(slug: string, { revision, record, observations }: FoldedMarket): [Market, RecentPrices] {
  const prices = new RecentPrices();
  const { quantity } = record(null).unit;
  for (const { observation } of observations.slice(-RECENT_ROWS_MAX).reverse()) {
    const decimalOf = () =>
      observation.kind === 'money' ? moneyTexts(observation.amountMinor, observation.currency, quantity).decimal : null;
    prices.add(observation, decimalOf);
  }
  return [JSON.parse(marketBody(slug, revision, record(null))) as Market, prices];
}

/** Markets that the list lacks although the log has them. */
export function checkMissing(findings: Findings, past: PastMarket, lateness: Lateness): void {
  if (past.isLateIfMissing(lateness))
    findings.add(marketUrl(past.slug), 'not-in-log', 'is in the log, and not in the list');
}
