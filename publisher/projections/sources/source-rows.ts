/** The sources of many markets, each once. Pure. */

import type { PublicSource } from '../../../contract/bodies/public-sources.ts';
import { PUBLIC_SOURCES_MAX } from '../../../contract/files/limits.ts';
import { latenessSeconds } from '../../../contract/freshness/expected-next.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant, millisecondInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { SOURCE_STATES } from '../../../storage/records/sources.ts';
import { type ListFileForm, rowsByKey } from '../../kernel/list/list-file-form.ts';

/** A source in the list of markets. */
type SourceRow = Omit<PublicSource, 'lastFetchedAt' | 'late'>;

/** When a source was last fetched, with its label. */
type Fetch = readonly [label: string, at: string];

function rowsOf({ sources, updatedAt }: Pick<Market, 'sources' | 'updatedAt'>): readonly SourceRow[] {
  return sources.map(({ label, url, publisher, licence, attribution, ...times }) => {
    // A list of an earlier version has neither field.
    const { cadence = null, expectedNextAt = null } = times;
    const fields = { label, url, publisher, licence, attribution, cadence, expectedNextAt };
    return { ...fields, markets: 1, lastChangedAt: updatedAt };
  });
}

/** Rows that differ only in their address are one row. Sorted by label. @param rows in the order of the markets */
function bySource(rows: readonly SourceRow[]): readonly SourceRow[] {
  const keyOf = ({ label, publisher, licence, attribution, cadence }: SourceRow) =>
    canonicalJson([label, publisher, licence, attribution, cadence] as unknown as Json);
  return rowsByKey(rows, keyOf, joined, PUBLIC_SOURCES_MAX);
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
  rowsOf: (markets) => bySource(markets.flatMap(rowsOf)),
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
    const data = bySource(rows).map((row): PublicSource => {
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
