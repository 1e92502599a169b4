/** The sources of many markets, each once. Pure. */

import type { PublicSource } from '../../../contract/bodies/public-sources.ts';
import { PUBLIC_SOURCES_MAX } from '../../../contract/files/limits.ts';
import { latenessSeconds } from '../../../contract/freshness/expected-next.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant, millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { SOURCE_STATES } from '../../../storage/records/sources.ts';
import type { ListFileForm } from '../../kernel/list/list-file-form.ts';

/** A source in the list of markets. */
type SourceRow = Omit<PublicSource, 'lastFetchedAt' | 'late'>;

/** When a source was last fetched, with its label. */
type Fetch = readonly [label: string, at: string];

class SourceRows {
  /** Rows by all facts about a source except its address. */
  readonly #rows = new Map<string, SourceRow>();

  /** @param rows in the order of the markets */
  constructor(rows: readonly SourceRow[] = []) {
    for (const row of rows) this.#add(row);
  }

  /** Call it in the order of the list. */
  add({ sources, updatedAt }: Pick<Market, 'sources' | 'updatedAt'>): void {
    for (const { label, url, publisher, licence, attribution, ...times } of sources) {
      // A list of an earlier version has neither field.
      const { cadence = null, expectedNextAt = null } = times;
      const fields = { label, url, publisher, licence, attribution, cadence, expectedNextAt };
      this.#add({ ...fields, markets: 1, lastChangedAt: updatedAt });
    }
  }

  #add(row: SourceRow): void {
    const { label, publisher, licence, attribution, cadence } = row;
    const key = canonicalJson([label, publisher, licence, attribution, cadence] as unknown as Json);
    const known = this.#rows.get(key);
    this.#rows.set(key, known === undefined ? row : joined(known, row));
  }

  /** Sorted by label. */
  get all(): readonly SourceRow[] {
    const sorted = [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.slice(0, PUBLIC_SOURCES_MAX).map(([, row]) => row);
  }
}

function joined(one: SourceRow, other: SourceRow): SourceRow {
  const [changed, expected] = [one.lastChangedAt, one.expectedNextAt];
  return {
    ...one,
    markets: one.markets + other.markets,
    lastChangedAt: other.lastChangedAt === null ? changed : laterInstant(other.lastChangedAt, changed),
    expectedNextAt: other.expectedNextAt === null ? expected : earlier(other.expectedNextAt, expected),
  };
}

function earlier(one: string, other: string | null): string {
  return other === null || laterInstant(one, other) === other ? one : other;
}

/** `beside` has the times of fetches, by label. docs/decisions/097 */
export const SOURCES_FILE: ListFileForm<SourceRow, readonly Fetch[]> = {
  rowsOf(markets) {
    const found = new SourceRows();
    for (const market of markets) found.add(market);
    return found.all;
  },
  async beside({ ledger }) {
    const fetches = new Map<string, string>();
    for (const { value } of await readAll(ledger, SOURCE_STATES)) {
      const { at, labels } = value.fetched ?? { at: '', labels: [] };
      for (const label of labels) fetches.set(label, laterInstant(at, fetches.get(label) ?? null));
    }
    return [...fetches].sort();
  },
  text(rows, fetches) {
    const fetchedAt = new Map(fetches);
    const data = new SourceRows(rows).all.map((row): PublicSource => {
      const lastFetchedAt = fetchedAt.get(row.label) ?? null;
      return { ...row, lastFetchedAt, late: isLate(row, lastFetchedAt) };
    });
    return canonicalJson({ data } as unknown as Json);
  },
  besideIn(text) {
    try {
      const { data } = JSON.parse(text) as { readonly data: readonly PublicSource[] };
      const fetches = data.map(({ label, lastFetchedAt }) => [label, lastFetchedAt] as const);
      if (fetches.some(([, at]) => at !== null && !isInstant(at))) return null;
      return fetches.filter((fetch): fetch is Fetch => fetch[1] !== null);
    } catch {
      return null;
    }
  },
};

function isInstant(at: string): boolean {
  return !Number.isNaN(Date.parse(at)) && new Date(at).toISOString() === millisecondInstant(at);
}

function isLate({ cadence, expectedNextAt }: SourceRow, lastFetchedAt: string | null): boolean | null {
  if (cadence === null || expectedNextAt === null || lastFetchedAt === null) return null;
  return latenessSeconds(expectedNextAt, cadence.graceSeconds, Date.parse(lastFetchedAt)) > 0;
}
