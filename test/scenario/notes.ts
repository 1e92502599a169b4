/** Notes of steps for later steps. */
import type { Market } from '../../contract/values/market.ts';
import type { Observation } from '../../contract/values/metric.ts';

/** An account, and the API key that it works with. */
export interface Account {
  readonly waitlistRequest: string;
  /** As the audit and entitlements name it: `account:<waitlist request id>`. */
  readonly subject: string;
  readonly keyId: string;
  readonly key: string;
}

/** A request that was accepted. */
export interface SentBatch {
  readonly id: string;
  readonly key: string;
  readonly body: unknown;
  /** The answer to it. */
  readonly text: string;
}

/** A walk through a collection: its first page's ETag, the cursor of its second page, and the bodies after that. */
export interface Walk {
  readonly etag: string;
  readonly cursor: string;
  readonly laterPages: readonly string[];
  readonly markets: readonly Market[];
}

export interface Notes {
  /** Of the operator's credential, as the audit names it. */
  readonly operator: string;
  readonly batch: SentBatch;
  /** The market that stays unchanged, as it was first read. */
  readonly untouched: { readonly etag: string; readonly text: string };
  /** The history of the market that a batch corrects, before that. */
  readonly yenBefore: readonly Observation[];
  readonly listBefore: Walk;
  readonly account: Account;
  /** A key of the same account that was revoked. */
  readonly revokedKey: { readonly id: string; readonly key: string };
  readonly watchlist: string;
  readonly claims: { readonly correction: string; readonly dispute: string; readonly representation: string };
  readonly verification: string;
  readonly upload: string;
  readonly publication: string;
  readonly erasure: string;
}
