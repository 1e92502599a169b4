/** What a projection says of its one file that is made from the list. */
import type { Market } from '../../contract/values/market.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import type { Projector } from './projection.ts';

export interface ListFile<Row, Beside> {
  readonly kind: 'modified' | 'releases' | 'sources';
  readonly url: string;
  readonly what: string;
  /** Of its rows, if the log proves them. By the bodies, the whole file is rendered again from the list. */
  readonly checkByLog?: NonNullable<Projector['check']>;
  /** Loaded when a generation or a check needs it. */
  readonly load: () => Promise<ListFileForm<Row, Beside>>;
}

export interface ListFileForm<Row, Beside> {
  /** Of the markets of one page. */
  readonly rowsOf: (markets: readonly Market[]) => readonly Row[];
  /** What the file shows that is not in the list. A change of it asks for a list, too. */
  readonly beside: (dependencies: PublisherDependencies) => Promise<Beside>;
  /** Pure. Null: there is no file. @param rows of all pages, in order */
  readonly text: (rows: readonly Row[], beside: Beside) => string | null;
  /** What a published file shows beside the list. Null: it has another form. */
  readonly besideIn: (text: string) => Beside | null;
}
