/** The options of `tidemark receipt` and `tidemark receipt verify`. */
import type { GlobalOptions } from '../program/profile.ts';

export interface ReceiptFlags extends GlobalOptions {
  readonly observedAt?: string;
  readonly metric: string;
  readonly source?: string;
  readonly output?: string;
  readonly logKey?: readonly string[];
}
