/** Which rows the explorer shows, and in which order. A view is a text in the address, so it can be shared. Pure. */
import type { LatestEntry } from '../../../../contract/files/latest-entries.ts';
import { rowBadges } from './latest-rows.ts';
import { isEntryOnList, newestMoment } from './metric-columns.ts';

/** Prices are no order: they are in many currencies, and for many quantities. Metrics that all have one unit are. */
export const SORTS = ['name', 'kind', 'age', 'notes'] as const;
/** One of {@link SORTS}, or the name of a metric. */
export type ListSort = string;

export interface ListView {
  /** Words that name or slug must have. */
  readonly text: string;
  /** Empty: all. */
  readonly kind: string;
  /** Empty: all. */
  readonly currency: string;
  readonly sort: ListSort;
  readonly isDescending: boolean;
  readonly hasCharts: boolean;
}

export const WHOLE_VIEW: ListView = {
  text: '',
  kind: '',
  currency: '',
  sort: 'name',
  isDescending: false,
  hasCharts: true,
};

/** Reads the fragment of an address, with or without its `#`. Null: it describes no view, e.g. it is the target of a link. */
export function parseView(fragment: string): ListView | null {
  const text = fragment.replace(/^#/, '');
  if (text !== '' && !text.includes('=')) return null;
  const fields = new URLSearchParams(text);
  const [sort = '', order] = (fields.get('sort') ?? '').split('-');
  return {
    text: fields.get('q') ?? '',
    kind: fields.get('kind') ?? '',
    currency: fields.get('currency') ?? '',
    sort: /^(?!price$)[a-z][a-zA-Z0-9]{0,39}$/.test(sort) ? sort : WHOLE_VIEW.sort,
    isDescending: order === 'descending',
    hasCharts: fields.get('charts') !== 'off',
  };
}

/** The inverse of {@link parseView}, without `#`. Empty for the view of everything. */
export function viewFragment({ text, kind, currency, sort, isDescending, hasCharts }: ListView): string {
  const fields = new URLSearchParams();
  if (text.trim() !== '') fields.set('q', text.trim());
  if (kind !== '') fields.set('kind', kind);
  if (currency !== '') fields.set('currency', currency);
  if (sort !== WHOLE_VIEW.sort || isDescending) fields.set('sort', isDescending ? `${sort}-descending` : sort);
  if (!hasCharts) fields.set('charts', 'off');
  return fields.toString();
}

/** @param nowMs milliseconds since the epoch */
export function selectEntries(entries: readonly LatestEntry[], view: ListView, nowMs: number): LatestEntry[] {
  const words = searchable(view.text).split(/\s+/).filter(Boolean);
  const selected = entries.filter(
    ({ name, slug, kind, currency }) =>
      (view.kind === '' || kind === view.kind) &&
      (view.currency === '' || currency === view.currency) &&
      (words.length === 0 || hasAll(searchable(`${name} ${slug}`), words)),
  );
  return selected.sort(comparison(view.sort, nowMs, view.isDescending ? -1 : 1));
}

/** How many entries have each value, by value. */
export function countsBy(entries: readonly LatestEntry[], member: 'kind' | 'currency'): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(entry[member], (counts.get(entry[member]) ?? 0) + 1);
  return new Map([...counts].filter(([value]) => value !== '').sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Without accents and capitals: `São Tomé` is found by `sao tome`. */
function searchable(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase();
}

const hasAll = (text: string, words: readonly string[]): boolean => words.every((word) => text.includes(word));

const NAMES = new Intl.Collator('en', { numeric: true });

/** Equal ones by name, then by slug. What is not known is last in both directions. */
function comparison(sort: ListSort, nowMs: number, sign: 1 | -1) {
  const byName = (left: LatestEntry, right: LatestEntry): number =>
    NAMES.compare(left.name, right.name) || (left.slug < right.slug ? -1 : 1);
  const keys: Readonly<Record<string, (entry: LatestEntry) => number | string | null>> = {
    name: () => 0,
    kind: ({ kind }: LatestEntry) => kind,
    age: (entry: LatestEntry) => {
      const moment = newestMoment(entry);
      return moment === null ? null : -Date.parse(moment);
    },
    notes: (entry: LatestEntry) => weight(entry, nowMs),
  };
  const keyOf = Object.hasOwn(keys, sort)
    ? (keys[sort] as (entry: LatestEntry) => number | string | null)
    : metricNumber(sort);
  return (left: LatestEntry, right: LatestEntry): number => {
    const [one, other] = [keyOf(left), keyOf(right)];
    if (one === other) return byName(left, right) * (sort === 'name' ? sign : 1);
    if (one === null) return 1;
    if (other === null) return -1;
    return one < other ? -sign : sign;
  };
}

/** Only an order, so a number is exact enough. Per unit, because markets have quantities of their own. */
function metricNumber(name: string) {
  return ({ metrics }: LatestEntry): number | null => {
    const metric = metrics?.[name];
    const digits = metric?.decimalPerUnit ?? metric?.decimal ?? null;
    return digits === null ? null : Number(digits);
  };
}

const WEIGHTS = { alarm: 100, notice: 10, plain: 1 } as const;

function weight(entry: LatestEntry, nowMs: number): number {
  const unknown = entry.decimal === null && !isEntryOnList(entry) ? WEIGHTS.notice : 0;
  return rowBadges(entry, nowMs).reduce((sum, { look }) => sum + WEIGHTS[look], unknown);
}
