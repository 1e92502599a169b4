/** What a projection says of its one file that is made from the list. */
import type { Market } from '../../contract/values/market.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import type { Projector } from './projection.ts';

/** `check` is that of the rows, if the log proves them. Default: the whole file is rendered again from the list. */
export interface ListFile<Row, Beside> extends Pick<Projector, 'check' | 'isInLog'> {
  readonly kind: 'modified' | 'releases' | 'sources';
  readonly url: string;
  readonly what: string;
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
