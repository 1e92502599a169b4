/**
 * Compares the files for other programs with the log: each section at the revision that it names, and what all markets share
 * with the markets at those revisions. The files are made once a day.
 */
import { compatCurrenciesSchema, compatRatesSchema } from '../../../contract/bodies/compat.ts';
import { NEXT_OF_PAGE } from '../../../contract/files/object-paths.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicPath } from '../../../contract/files/public-objects.ts';
import type { Removal } from '../../../contract/files/removed-market.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { historyPageBody, marketBody } from '../../core/bodies/render.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import type { Findings } from '../../verify/check-body.ts';
import type { ReadLog } from '../../verify/log-walk.ts';
import { type Lateness, type PastMarket, SLACK_MS } from '../../verify/past-market.ts';
import type { PublicReader } from '../../verify/reader.ts';
import { ModelCheck } from './check-models.ts';
import { commodityOf } from './commodity.ts';
import { type CompatFile, ratesName } from './names.ts';
import { Pairs } from './pairs.ts';
import { rateFiles } from './rates.ts';
import { PARTS_URL, PartReader, type ShownMarket } from './read-parts.ts';

/** Without a rate, the list of currencies is empty. */
const NO_RATES = { date: 'latest', generation: 0, log: null } as const;

const CURRENCIES = ratesName('latest', 'currencies');

export class LoggedCompat {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #lateness: Lateness;
  readonly #parts: PartReader;
  readonly #models: ModelCheck | null;
  /** Of the markets as their sections show them. */
  readonly #pairs = new Pairs();
  /** Whether a section has the code of its pair, by the URL of its file and the slug. */
  readonly #named: { readonly url: string; readonly slug: string; readonly isFirst: boolean }[] = [];
  /** Markets of the log that have sections. */
  readonly #seen = new Set<string>();

  private constructor(
    reader: PublicReader,
    findings: Findings,
    lateness: Lateness,
    parts: PartReader,
    models: ModelCheck | null,
  ) {
    this.#reader = reader;
    this.#findings = findings;
    this.#lateness = lateness;
    this.#parts = parts;
    this.#models = models;
  }

  static async open(reader: PublicReader, findings: Findings, lateness: Lateness): Promise<LoggedCompat> {
    const models = await ModelCheck.open(reader, findings, 'not-in-log');
    return new LoggedCompat(reader, findings, lateness, await PartReader.open(reader, findings), models);
  }

  /** False: none have been made. */
  async market(past: PastMarket, current: FoldedMarket): Promise<boolean> {
    const { slug } = past;
    if (this.#parts.index?.has(slug) !== true) return false;
    await this.#check(past, current);
    return true;
  }

  /** Its sections leave with the next run. */
  async removed(past: PastMarket, removal: Removal): Promise<void> {
    const { slug } = past;
    if (this.#parts.index?.has(slug) !== true) return;
    const { nowMs, mostMs } = this.#lateness;
    if (nowMs !== null && nowMs - Date.parse(removal.removedAt) > mostMs)
      this.#findings.add(PARTS_URL, 'not-in-log', `has ${slug}, and the market was removed`);
    await this.#check(past, null);
  }

  /** @param current null: the market was removed */
  async #check(past: PastMarket, current: FoldedMarket | null): Promise<void> {
    const { slug } = past;
    this.#seen.add(slug);
    this.#addModel(past, current);
    let shown: Market | null = null;
    for (const [index, { url, read }] of (await this.#parts.sectionsOf(slug)).entries()) {
      if (read === undefined) {
        this.#findings.add(url, 'not-in-log', `has no prices of ${slug}`);
        continue;
      }
      const { revision, digest } = read;
      const right = await this.#fitting(past, current, revision, (digests) => digests[index] === digest);
      if (right === null) {
        this.#findings.add(url, 'not-in-log', `${slug} differs from the log at revision ${revision}`);
        continue;
      }
      const { market, isFirst, isCurrent } = right;
      shown = market;
      if (commodityOf(market, true) !== commodityOf(market, false) && isFirst !== null)
        this.#named.push({ url, slug, isFirst });
      if (!isCurrent && past.isLate(revision, market.updatedAt, this.#lateness))
        this.#findings.add(url, 'time', `still shows revision ${revision} of ${slug}`);
    }
    if (shown !== null) this.#pairs.add(shown);
  }

  /** As the files of model prices show it. */
  #addModel(past: PastMarket, current: FoldedMarket | null): void {
    const revision = this.#models?.shownRevision(past.slug);
    if (revision === undefined) return;
    const [folded] = current?.revision === revision ? [current] : past.at(revision);
    if (folded === undefined) return;
    const { market, observations } = shownOf(past.slug, folded);
    this.#models?.add(market, observations);
  }

  /** The state of the market, by the log, from which this section was made. Null: no state gives it. */
  async #fitting(
    past: PastMarket,
    current: FoldedMarket | null,
    revision: number,
    isRight: (digests: readonly string[]) => boolean,
  ) {
    for (const folded of current?.revision === revision ? [current] : past.at(revision)) {
      const shown = shownOf(past.slug, folded);
      const right = (await this.#parts.expected(shown)).filter(({ digests }) => isRight(digests));
      if (right.length === 0) continue;
      // Quotes have no name of a commodity, and are the same in both.
      const isFirst = right.length === 1 ? (right[0]?.isFirst ?? null) : null;
      return { market: shown.market, isFirst, isCurrent: folded === current };
    }
    return null;
  }

  /** After all markets: the files that lead to the parts, and the rates. */
  async shared(walk: ReadLog): Promise<void> {
    const { index } = this.#parts;
    if (index !== null) await this.#parts.checkIndex();
    await this.#models?.end();
    for (const [slug, part] of index ?? []) {
      if (!this.#seen.has(slug))
        this.#findings.add(PARTS_URL, 'not-in-log', `has ${slug}, and the log has no such market`);
      for (const other of await this.#parts.slugsOf(part))
        if (!index?.has(other)) this.#findings.add(PARTS_URL, 'not-in-log', `leaves out ${other} of part ${part}`);
    }
    const { first } = this.#pairs;
    for (const { url, slug, isFirst } of this.#named)
      if (first.has(slug) !== isFirst)
        this.#findings.add(
          url,
          'not-in-log',
          `names the commodity of ${slug} as if another market gave the price of its pair`,
        );
    const { status, body } = await this.#reader(publicPath(CURRENCIES));
    const [code] = Object.keys(parsed(compatCurrenciesSchema, body) ?? {});
    if (status === 404 && index === null) return;
    const made = code === undefined ? NO_RATES : await this.#madeOf(ratesName('latest', `currencies/${code}`), walk);
    if (made !== null) await this.#compare(rateFiles(this.#pairs.rates, made, []).files);
  }

  /** Of which day, generation and log the rates are, as they say themselves. The log must have been that one. */
  async #madeOf(name: PublicObjectName, walk: ReadLog) {
    const rates = parsed(compatRatesSchema, (await this.#reader(publicPath(name))).body);
    if (rates === null) {
      this.#add(name, 'schema', 'is no file of rates');
      return null;
    }
    const { date, derived } = rates;
    const { generation, log } = derived;
    const { nowMs, mostMs } = this.#lateness;
    const ageMs = nowMs === null ? 0 : nowMs - Date.parse(date);
    if (ageMs < -SLACK_MS || ageMs > mostMs) this.#add(name, 'time', `is of ${date}`);
    if (log !== null) {
      const root = log.size > walk.size ? null : (await walk.rootAt(log.size)).toString('base64');
      if (root !== log.root) this.#add(name, 'not-in-log', `names a log of ${log.size} entries that is not this one`);
    }
    return { date, generation, log };
  }

  async #compare(files: readonly CompatFile[]): Promise<void> {
    for (const { name, text } of files) {
      const { status, body } = await this.#reader(publicPath(name));
      if (status === 200 && Buffer.from(text).equals(body)) continue;
      this.#add(name, 'not-in-log', `answers ${status}, or has other markets or prices than the log gives`);
    }
  }

  #add(name: PublicObjectName, rule: Parameters<Findings['add']>[1], detail: string): void {
    this.#findings.add(publicPath(name), rule, detail);
  }
}

function shownOf(slug: string, { revision, record, observations }: FoldedMarket): ShownMarket {
  const shown = record(null);
  const market = JSON.parse(marketBody(slug, revision, shown)) as Market;
  const stored = observations.map(({ observation }) => observation);
  const { data } = JSON.parse(historyPageBody(stored, null, shown.unit.quantity, NEXT_OF_PAGE)) as {
    readonly data: readonly PublicObservation[];
  };
  return { market, observations: data };
}

function parsed<Value>(schema: { parse(json: unknown): Value }, body: Uint8Array): Value | null {
  try {
    return schema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return null;
  }
}
