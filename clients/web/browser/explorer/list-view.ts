/** The selection and order of the explorer's rows. A view is a text in the address, so it can be shared. Pure. */
import type { LatestEntry } from '../../../../contract/bodies/latest-entries.ts';
import { marketMatcher, nameMatcher } from './market-search.ts';

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
  #view = WHOLE_VIEW;
  #selected: readonly LatestEntry[] = [];

  /** @param entries in the order of the view */
  select(entries: readonly LatestEntry[], view: ListView): readonly LatestEntry[] {
    const last = this.#view;
    const isSame = view.text === last.text && view.kind === last.kind && view.currency === last.currency;
    if (isSame && entries === this.#entries) return this.#selected;
    [this.#entries, this.#view] = [entries, view];
    this.#selected = selected(entries, view);
    return this.#selected;
  }
}

function selected(entries: readonly LatestEntry[], view: ListView): readonly LatestEntry[] {
  const { text, kind, currency, sort, isDescending } = view;
  const matches = marketMatcher(text);
  const found = entries.filter(
    (entry) =>
      (kind === '' || entry.kind === kind) && (currency === '' || entry.currency === currency) && matches(entry),
  );
  // In the order of names, Bitcoin Cash would come before bitcoin. A chosen order stays.
  if (text.trim() === '' || sort !== WHOLE_VIEW.sort || isDescending) return found;
  const isNamed = nameMatcher(text);
  return [...found.filter(isNamed), ...found.filter((entry) => !isNamed(entry))];
}

/** The number of entries with each value, by value. */
export function countsBy(entries: readonly LatestEntry[], member: 'kind' | 'currency'): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(entry[member], (counts.get(entry[member]) ?? 0) + 1);
  return new Map([...counts].filter(([value]) => value !== '').sort(([left], [right]) => (left < right ? -1 : 1)));
}
