import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';

type MarketInput = Extract<IngestRecordInput, { type: 'market' }>;

/** The later definition replaces the earlier one, with two exceptions. */
function withEarlier(record: MarketInput, earlier: MarketInput | undefined): MarketInput {
  if (earlier === undefined) return record;
  // The first observation fixes the quantity, so it must be large enough for later amounts.
  const quantity = Math.max(record.unit.quantity, earlier.unit.quantity);
  // A fact keeps the moment since which the source has stated it.
  const facts = Object.entries(record.attributes ?? {}).map(([name, fact]) => {
    const before = earlier.attributes?.[name];
    const isSame = before?.value === fact.value && before.sourceLabel === fact.sourceLabel;
    return [name, isSame ? before : fact] as const;
  });
  const attributes = facts.length === 0 ? {} : { attributes: Object.fromEntries(facts) };
  return { ...record, ...attributes, unit: { ...record.unit, quantity } };
}

/** The records of some versions. The definition of each market comes once, before its other records. */
export class Chunk {
  characters = 0;
  readonly #markets = new Map<string, MarketInput>();
  #values: string[] = [];

  add(record: IngestRecordInput): void {
    if (record.type === 'market') {
      this.#markets.set(record.slug, withEarlier(record, this.#markets.get(record.slug)));
      return;
    }
    const line = JSON.stringify(record);
    this.characters += line.length;
    this.#values.push(line);
  }

  get lines(): readonly string[] {
    return [...this.definitions, ...this.#values];
  }

  get definitions(): readonly string[] {
    return [...this.#markets.values()].map((market) => JSON.stringify(market));
  }

  /** Removes and returns the records that are not definitions. */
  takeValues(): readonly string[] {
    const values = this.#values;
    this.#values = [];
    this.characters = 0;
    return values;
  }
}
