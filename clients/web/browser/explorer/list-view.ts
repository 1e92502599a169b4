/** The selection and order of the explorer's rows. A view is a text in the address, so it can be shared. Pure. */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { SearchIndex } from './market-search.ts';

/** `name`, `price` of one unit, its change in a `day`, a `month` or a `year`, `age`, or the name of a metric. */
export type ListSort = string;

export interface ListView {
  /** Words that a market must have: see market-search.ts. */
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
    sort: /^[a-z][a-zA-Z0-9]{0,39}$/.test(sort) ? sort : WHOLE_VIEW.sort,
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

/** Selects from the same entries again and again. */
export class ListSelector {
  #entries: readonly LatestEntry[] = [];
  /** Null: there was no search among the entries yet. */
  #index: SearchIndex<LatestEntry> | null = null;
  #view = WHOLE_VIEW;
  #selected: readonly LatestEntry[] = [];

  /** Prepares a search, if these are still the entries of the view. */
  prepare(entries: readonly LatestEntry[]): void {
    if (entries === this.#entries) this.#index ??= new SearchIndex(entries);
  }

  /** @param entries in the order of the view */
  select(entries: readonly LatestEntry[], view: ListView): readonly LatestEntry[] {
    const last = this.#view;
    const isSame = view.text === last.text && view.kind === last.kind && view.currency === last.currency;
    if (isSame && entries === this.#entries) return this.#selected;
    if (entries !== this.#entries) this.#index = null;
    [this.#entries, this.#view] = [entries, view];
    this.#selected = this.#find(view);
    return this.#selected;
  }

  /**
   * The first entries of the result of {@link select}, without examining the others: a letter may match all of 20,000. Null:
   * there are fewer, or the entries have changed.
   */
  selectFirst(entries: readonly LatestEntry[], view: ListView, count: number): readonly LatestEntry[] | null {
    if (entries !== this.#entries || view.text.trim() === '') return null;
    const first = this.#find(view, count);
    return first.length < count ? null : first.slice(0, count);
  }

  /** @param max stop after at least this many results */
  #find(view: ListView, max = Infinity): readonly LatestEntry[] {
    const { text, kind, currency, sort, isDescending } = view;
    const isInView = (entry: LatestEntry): boolean =>
      (kind === '' || entry.kind === kind) && (currency === '' || entry.currency === currency);
    if (text.trim() === '') return kind === '' && currency === '' ? this.#entries : this.#entries.filter(isInView);
    this.prepare(this.#entries);
    const found = this.#index?.find(text, max, isInView) ?? [];
    // In the order of names, Bitcoin Cash would come before bitcoin. A chosen order stays.
    if (sort !== WHOLE_VIEW.sort || isDescending) return found;
    const exact = new Set(this.#index?.exact(text).filter(isInView));
    return exact.size === 0 ? found : [...exact, ...found.filter((entry) => !exact.has(entry))];
  }
}

/** The number of entries with each value, by value. */
export function countsBy(entries: readonly LatestEntry[], member: 'kind' | 'currency'): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(entry[member], (counts.get(entry[member]) ?? 0) + 1);
  return new Map([...counts].filter(([value]) => value !== '').sort(([left], [right]) => (left < right ? -1 : 1)));
}
