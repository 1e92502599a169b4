/**
 * Compares faces with the log: each file of a market at the revision that it names, and what all markets share with the
 * markets at those revisions. Faces are made once a day.
 */

import { faceCurrenciesSchema, faceQuotesSchema, faceRatesSchema } from '../../../contract/files/faces.ts';
import { NEXT_OF_PAGE } from '../../../contract/files/object-paths.ts';
import type { PublicObjectName } from '../../../contract/files/public-object-names.ts';
import { publicPath } from '../../../contract/files/public-objects.ts';
import type { Removal } from '../../../contract/files/removed-market.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { historyPageBody, marketBody } from '../../core/bodies/render.ts';
import type { FoldedMarket } from '../../core/log/folded-market.ts';
import type { Findings } from '../../verify/check-body.ts';
import type { ReadLog } from '../../verify/log-walk.ts';
import { type Lateness, type PastMarket, SLACK_MS } from '../../verify/past-market.ts';
import type { PublicReader, PublicResponse } from '../../verify/reader.ts';
import { readIncluded } from './check-faces.ts';
import { DayPrices } from './day-prices.ts';
import { marketFaceNames } from './face-names.ts';
import { includeFaces } from './includes.ts';
import { type Face, marketFaces } from './market-faces.ts';
import { Pairs } from './pairs.ts';
import { rateFaces } from './rates.ts';

/** Without a rate, the list of currencies is empty. */
const NO_RATES = { date: 'latest', generation: 0, log: null } as const;

const CURRENCIES = { kind: 'face-rates', date: 'latest', file: 'currencies' } as const;

export class LoggedFaces {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #lateness: Lateness;
  /** Of the markets as their faces show them. */
  readonly #pairs = new Pairs();
  /** Perhaps since the faces of the day were made. */
  readonly #removed: Market[] = [];
  #markets = 0;

  constructor(reader: PublicReader, findings: Findings, lateness: Lateness) {
    this.#reader = reader;
    this.#findings = findings;
    this.#lateness = lateness;
  }

  /** False: none have been made. */
  async market(past: PastMarket, current: FoldedMarket): Promise<boolean> {
    const { slug } = past;
    const names = marketFaceNames(slug);
    const answers = await Promise.all(names.map((name) => this.#reader(publicPath(name))));
    if (answers.every(({ status }) => status === 404)) return false;
    for (const [index, name] of names.entries()) {
      const { status, body } = answers[index] as PublicResponse;
      if (status !== 200) this.#add(name, 'status', `answered ${status}, expected 200`);
      else this.#checkMarket(name, Buffer.from(body).toString('utf8'), past, current);
    }
    return true;
  }

  #checkMarket(name: PublicObjectName, text: string, past: PastMarket, current: FoldedMarket): void {
    const revision = revisionOf(text);
    if (revision === null) {
      this.#add(name, 'file', 'names no revision of its market');
      return;
    }
    const candidates = current.revision === revision ? [current] : past.at(revision);
    const kind = publicPath(name);
    for (const folded of candidates) {
      const { market, faces } = facesOf(past.slug, folded);
      if (faces.find((face) => publicPath(face.name) === kind)?.text !== text) continue;
      if (name.kind === 'face-quotes') {
        this.#markets++;
        this.#pairs.add(market);
      }
      if (folded !== current && past.isLate(revision, market.updatedAt, this.#lateness))
        this.#add(name, 'time', `still shows revision ${revision}`);
      return;
    }
    this.#add(name, 'not-in-log', `shows something else than the log at revision ${revision}`);
  }

  /** They may be gone, or say that the market was removed. */
  async removed(past: PastMarket, removal: Removal): Promise<void> {
    const { slug } = past;
    const { nowMs, mostMs } = this.#lateness;
    const last = nowMs === null || nowMs - Date.parse(removal.removedAt) <= mostMs ? past.lastShown() : null;
    if (last !== null) this.#removed.push(facesOf(slug, last).market);
    const expected = canonicalJson(removedMarketDocument(removal));
    for (const name of marketFaceNames(slug)) {
      const { status, body } = await this.#reader(publicPath(name));
      const isRight = status === 410 && Buffer.from(body).toString('utf8') === expected;
      if (status !== 404 && !isRight) this.#add(name, 'not-in-log', `answered ${status}, and the market was removed`);
    }
  }

  /** After all markets: the files that include the others, and the rates. */
  async shared(walk: ReadLog): Promise<void> {
    // Nothing has been made yet.
    const isNew = this.#markets === 0;
    const included = (await readIncluded(this.#reader)) ?? new Set();
    const { prices, rates } = this.#pairs.with(this.#removed.filter(({ slug }) => included.has(slug)));
    await this.#compare(includeFaces(prices), isNew);
    const { status, body } = await this.#reader(publicPath(CURRENCIES));
    const [code] = Object.keys(parsed(faceCurrenciesSchema, body) ?? {});
    if (status === 404 && isNew) return;
    const made = code === undefined ? NO_RATES : await this.#madeOf(`currencies/${code}`, walk);
    if (made !== null) await this.#compare(rateFaces(rates, made, []).faces, false);
  }

  /** Of which day, generation and log the rates are, as they say themselves. The log must have been that one. */
  async #madeOf(file: string, walk: ReadLog) {
    const name = { ...CURRENCIES, file };
    const rates = parsed(faceRatesSchema, (await this.#reader(publicPath(name))).body);
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

  async #compare(faces: readonly Face[], mayBeMissing: boolean): Promise<void> {
    for (const { name, text } of faces) {
      const { status, body } = await this.#reader(publicPath(name));
      if (status === 404 && mayBeMissing) continue;
      if (status === 200 && Buffer.from(text).equals(body)) continue;
      this.#add(name, 'not-in-log', `answers ${status}, or has other markets or prices than the log gives`);
    }
  }

  #add(name: PublicObjectName, rule: Parameters<Findings['add']>[1], detail: string): void {
    this.#findings.add(publicPath(name), rule, detail);
  }
}

function revisionOf(text: string): number | null {
  const inComment = /^; From \/[^ ]*, revision (\d+)\.$/m.exec(text)?.[1];
  if (inComment !== undefined) return Number(inComment);
  return parsed(faceQuotesSchema, Buffer.from(text))?.revision ?? null;
}

function facesOf(slug: string, { revision, record, observations }: FoldedMarket) {
  const shown = record(null);
  const market = JSON.parse(marketBody(slug, revision, shown)) as Market;
  const stored = observations.map(({ observation }) => observation);
  const { data } = JSON.parse(historyPageBody(stored, null, shown.unit.quantity, NEXT_OF_PAGE)) as {
    readonly data: readonly PublicObservation[];
  };
  const prices = new DayPrices();
  for (const observation of data) if (!prices.add(observation)) break;
  return { market, faces: marketFaces(market, prices.days) };
}

function parsed<Value>(schema: { parse(json: unknown): Value }, body: Uint8Array): Value | null {
  try {
    return schema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return null;
  }
}
