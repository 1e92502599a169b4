/** What `verify` found. */

/** One thing that is not as promised. */
export interface Finding {
  readonly url: string;
  /** Which promise: stable, for alarms and tests. */
  readonly rule: VerifyRule;
  /** What was seen, and what should have been. */
  readonly detail: string;
}

export type VerifyRule =
  | 'status'
  | 'headers'
  | 'schema'
  | 'canonical'
  | 'digest'
  | 'order'
  | 'page-size'
  | 'older-than-its-link'
  | 'count'
  | 'link'
  | 'forbidden'
  | 'conditional'
  | 'unsettled';

export interface VerifyReport {
  /** Empty when everything is as promised. */
  readonly findings: readonly Finding[];
  /** The generation of the snapshot, null when there is none. */
  readonly generation: number | null;
  readonly markets: number;
  readonly observations: number;
  readonly pages: number;
}
