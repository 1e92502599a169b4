/** The interface of a projection with one file, which is made from the list. */
import type { Market } from '../../../contract/values/market.ts';
import type { PublisherDependencies } from '../../dependencies.ts';
import type { Projector } from '../projection.ts';

export interface ListFile<Row, Beside> {
  readonly kind: 'modified' | 'releases' | 'sources';
  readonly url: string;
  /** Checks the rows by the log, if the log proves them. A check by the bodies renders the whole file again from the list. */
  readonly checkByLog?: NonNullable<Projector['check']>;
  /** Loaded when a generation or a check needs it. */
  readonly load: () => Promise<ListFileForm<Row, Beside>>;
}

/**
 * One row for each key, sorted by key.
 *
 * @param join the row of two rows with the same key, in their order
 * @param most the most rows: the first ones
 */
export function rowsByKey<Row>(
  rows: Iterable<Row>,
  keyOf: (row: Row) => string,
  join: (one: Row, other: Row) => Row,
  most: number,
): readonly Row[] {
  const byKey = new Map<string, Row>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = byKey.get(key);
    byKey.set(key, known === undefined ? row : join(known, row));
  }
  const sorted = [...byKey].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.slice(0, most).map(([, row]) => row);
}

export interface ListFileForm<Row, Beside> {
  /** The rows for the markets of one page. */
  readonly rowsOf: (markets: readonly Market[]) => readonly Row[];
  /** Reads the facts that the file shows and the list does not have. If they change, a new list is due. */
  readonly beside: (dependencies: PublisherDependencies) => Promise<Beside>;
  /** Pure. Null: there is no file. @param rows the rows of all pages, in order */
  readonly text: (rows: readonly Row[], beside: Beside) => string | null;
  /** Reads these facts from a published file. Null: the file has another form. */
  readonly besideIn: (text: string) => Beside | null;
}
