/** Finds an observation in the signed log, checks it in this browser, and makes its receipt. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { type OpenedReceipt, openReceipt } from '../../../typescript/receipts.ts';
import type { Tidemark } from '../../../typescript/tidemark.ts';

export interface CheckedEntry extends OpenedReceipt {
  /** The text of a `.tlog-proof` file. It can be verified without this service. */
  readonly receipt: string;
}

/**
 * By the keys that the host names. Only the operator can say that they are his.
 *
 * @throws TidemarkError `not-in-log-yet`: its entry follows some seconds after its publication
 * @throws LogVerificationError if the log contradicts the row, or itself
 */
export async function checkInLog(tidemark: Tidemark, slug: string, row: PublicObservation): Promise<CheckedEntry> {
  const vkeys = await tidemark.logKeys();
  const receipt = await tidemark.receipt(slug, row, { vkeys });
  return { ...(await openReceipt(receipt, vkeys)), receipt };
}
