/** From entries of the log to the rows of one part of the observations. */
import type { ExportRow } from '../../contract/export-tables.ts';
import { millisecondInstant } from '../../contract/instants.ts';
import { moneyTexts } from '../../contract/money-texts.ts';

/** The members of an entry that a row is made from. The log's own code has checked them when they were written. */
interface ObservationFacts {
  readonly type: 'observation';
  readonly market: string;
  readonly id: string;
  readonly metric: string;
  readonly kind: 'money' | 'scalar';
  readonly amountMinor: number | null;
  readonly currency: string;
  readonly value: string | null;
  readonly unit: string;
  readonly observedAt: string;
  readonly recordedAt: string;
  readonly releasedAt: string | null;
  readonly retraction: string | null;
  readonly supersedes: string | null;
  readonly status: string;
  readonly confidence: string;
  readonly rounded: boolean;
  readonly sourceValue: string | null;
  readonly sourceLabel: string;
  readonly sourceUrl: string;
  readonly unknownReason: string | null;
}

type Facts =
  | ObservationFacts
  | { readonly type: 'market'; readonly market: string; readonly unit: { readonly quantity: number } }
  | { readonly type: 'reset'; readonly market: string }
  | { readonly type?: 'source' | 'standing' | 'removal' | 'key' };

export interface SupersededAt {
  /** The index in the log of the entry that says so. */
  readonly index: number;
  readonly by: string;
  readonly at: string;
  /** Of both: a correction is about the same moment. */
  readonly observedAt: string;
}

/** Changes that entries make to rows of earlier parts. */
export interface EarlierChanges {
  /** By the id of the superseded observation. */
  readonly superseded: ReadonlyMap<string, SupersededAt>;
  /** Markets about which everything that was said before does not hold any more. */
  readonly reset: ReadonlySet<string>;
}

export type ObservationRow = ExportRow & {
  readonly market: string;
  readonly observedAt: string;
  readonly metric: string;
  readonly id: string;
  readonly logIndex: number;
};

/** The rows of the entries of one part, while they are read in order. */
export class PartRows {
  readonly #observations: { readonly index: number; readonly facts: ObservationFacts }[] = [];
  readonly #quantities = new Map<string, number>();
  /** The index in the log from which a market's observations count: everything before its reset does not hold. */
  readonly #countsFrom = new Map<string, number>();
  readonly #superseded = new Map<string, SupersededAt>();

  /** @param index of the entry in the log */
  add(index: number, text: string): void {
    const facts = JSON.parse(text) as Facts;
    if (facts.type === 'observation') {
      this.#observations.push({ index, facts });
      const { supersedes, id, recordedAt, observedAt } = facts;
      if (supersedes !== null) this.#superseded.set(supersedes, { index, by: id, at: recordedAt, observedAt });
    } else if (facts.type === 'market') this.#quantities.set(facts.market, facts.unit.quantity);
    else if (facts.type === 'reset') this.#countsFrom.set(facts.market, index);
  }

  /** The changes to earlier parts by the entries from this index on. */
  earlierChanges(from: number): EarlierChanges {
    const own = new Set(this.#observations.map(({ facts }) => facts.id));
    const superseded = [...this.#superseded].filter(([id, { index }]) => index >= from && !own.has(id));
    const reset = [...this.#countsFrom].filter(([, index]) => index >= from).map(([slug]) => slug);
    return { superseded: new Map(superseded), reset: new Set(reset) };
  }

  /** Markets whose definition is in an earlier part. */
  get undefinedMarkets(): readonly string[] {
    const all = new Set(this.#observations.map(({ facts }) => facts.market));
    return [...all].filter((slug) => !this.#quantities.has(slug));
  }

  /** The rows in order. `quantities`: those of {@link undefinedMarkets}. */
  async rows(quantities: ReadonlyMap<string, number>, breathe: () => Promise<void>): Promise<ObservationRow[]> {
    const seen = new Set<string>();
    const rows: ObservationRow[] = [];
    for (const { index, facts } of this.#observations) {
      if (index < (this.#countsFrom.get(facts.market) ?? 0) || seen.has(facts.id)) continue;
      seen.add(facts.id);
      const quantity = this.#quantities.get(facts.market) ?? quantities.get(facts.market) ?? null;
      rows.push(rowOf(index, facts, quantity, this.#superseded.get(facts.id) ?? null));
      if (rows.length % ROWS_IN_A_STRETCH === 0) await breathe();
    }
    return rows.sort(inOrder);
  }
}

/** Takes a millisecond or two. */
export const ROWS_IN_A_STRETCH = 256;

/** The row as later entries leave it; null if they take it away. */
export function changedRow(row: ObservationRow, { superseded, reset }: EarlierChanges): ObservationRow | null {
  if (reset.has(row.market)) return null;
  const newer = superseded.get(row.id);
  return newer === undefined ? row : { ...row, supersededAt: newer.at, supersededBy: newer.by };
}

function inOrder(one: ObservationRow, other: ObservationRow): number {
  if (one.market !== other.market) return one.market < other.market ? -1 : 1;
  if (one.observedAt !== other.observedAt) {
    const [left, right] = [millisecondInstant(one.observedAt), millisecondInstant(other.observedAt)];
    if (left !== right) return left < right ? -1 : 1;
  }
  if (one.metric !== other.metric) return one.metric < other.metric ? -1 : 1;
  return one.logIndex - other.logIndex;
}

/** In the order of the table's columns. */
function rowOf(
  logIndex: number,
  facts: ObservationFacts,
  quantity: number | null,
  superseded: SupersededAt | null,
): ObservationRow {
  const money = facts.kind === 'money' ? moneyCells(facts.amountMinor, facts.currency, quantity) : NO_MONEY;
  const scalar = facts.kind === 'scalar' ? scalarCells(facts.value, facts.unit) : NO_SCALAR;
  return {
    market: facts.market,
    observedAt: facts.observedAt,
    metric: facts.metric,
    kind: facts.kind,
    amountMinor: money.amountMinor,
    currency: money.currency,
    minorDigits: money.minorDigits,
    decimal: money.decimal,
    decimalPerUnit: money.decimalPerUnit,
    value: scalar.value,
    unit: scalar.unit,
    approximateValue: money.approximate ?? scalar.approximate,
    status: facts.status,
    confidence: facts.confidence,
    rounded: facts.rounded,
    sourceValue: facts.sourceValue,
    unknownReason: facts.unknownReason,
    sourceLabel: facts.sourceLabel,
    sourceUrl: facts.sourceUrl,
    releasedAt: facts.releasedAt,
    recordedAt: facts.recordedAt,
    supersededAt: superseded?.at ?? null,
    supersededBy: superseded?.by ?? null,
    supersedes: facts.supersedes,
    retraction: facts.retraction,
    id: facts.id,
    logIndex,
  };
}

const NO_MONEY = {
  amountMinor: null,
  currency: null,
  minorDigits: null,
  decimal: null,
  decimalPerUnit: null,
  approximate: null,
};
const NO_SCALAR = { value: null, unit: null, approximate: null };

function moneyCells(amountMinor: number | null, currency: string, quantity: number | null) {
  const { minorDigits, decimal, decimalPerUnit } = moneyTexts(amountMinor, currency, quantity ?? 1);
  if (quantity === null)
    return { amountMinor, currency, minorDigits, decimal, decimalPerUnit: null, approximate: null };
  const approximate = approximateMoney(decimal, decimalPerUnit, quantity);
  return { amountMinor, currency, minorDigits, decimal, decimalPerUnit, approximate };
}

function scalarCells(value: string | null, unit: string) {
  return { value, unit, approximate: value === null ? null : Number(value) };
}

/** The nearest number where the decimals end, else the quotient of two numbers. */
export function approximateMoney(
  decimal: string | null,
  decimalPerUnit: string | null,
  quantity: number,
): number | null {
  if (decimalPerUnit !== null) return Number(decimalPerUnit);
  return decimal === null ? null : Number(decimal) / quantity;
}
