/** The results of `verify`. */

/** One broken promise. */
export interface Finding {
  readonly url: string;
  /** The broken promise: stable, for alarms and tests. */
  readonly rule: VerifyRule;
  /** The observed value, and the expected one. */
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
  | 'removed'
  | 'amount'
  | 'time'
  | 'file'
  | 'link'
  | 'forbidden'
  | 'conditional'
  | 'unsettled'
  /** About the log: a wrong file or entry; a wrong signature; a changed past; a body that does not follow from it. */
  | 'log'
  | 'signature'
  | 'fork'
  | 'not-in-log';

export interface VerifyReport {
  /** Empty if every promise holds. */
  readonly findings: readonly Finding[];
  /** The generation of the snapshot; null if there is no snapshot. */
  readonly generation: number | null;
  readonly markets: number;
  readonly observations: number;
  readonly pages: number;
  /** Gaps in histories: values that the cadence of a source expected between two others. These are not findings. */
  readonly missingValues: number;
}
