/** The document at `/healthz`, which only the embedded server has. */

/** The newest run of `verify`. */
export type LastVerify = {
  /** When it ended. */
  readonly at: string;
  readonly findings: number;
  /** Gaps in the histories that it read. */
  readonly missingValues: number;
  /** In a large service each run checks the list and a share of the markets, e.g. `0 of 2`. */
  readonly share: string;
};

/** The report of a service. A number is absent while the ledger cannot be read, and in earlier versions. */
export type HealthDocument = {
  readonly status: string;
  readonly generation?: number;
  readonly publishedAt?: string;
  readonly publishLagSeconds?: number;
  readonly marksDue?: number;
  readonly deferred?: number;
  readonly queue?: number;
  readonly failingSources?: number;
  readonly missedRuns?: number;
  readonly lateSources?: number;
  readonly lastVerify?: LastVerify | null;
  readonly faults?: readonly { readonly part: string; readonly detail: string }[];
};
