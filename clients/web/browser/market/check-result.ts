/** Finds a value in the signed log, checks it in this browser, and describes the result. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { type OpenedReceipt, openReceipt } from '../../../typescript/receipts.ts';
import { LogVerificationError } from '../../../typescript/signed-log.ts';
import type { Tidemark } from '../../../typescript/tidemark.ts';
import { TidemarkError } from '../../../typescript/tidemark-error.ts';
import { badge, dom } from './elements.ts';

export function checkFailure(error: unknown): HTMLElement {
  if (error instanceof LogVerificationError)
    return checkWords('alarm', `The signed log does not agree: ${error.message}. Do not rely on this value.`);
  return checkWords('notice', failureText(error));
}

function failureText(error: unknown): string {
  if (error instanceof TidemarkError && error.code === 'not-in-log-yet')
    return 'Not in the log yet. A value enters the log some seconds after it is published. Try again soon.';
  if (!('crypto' in globalThis) || crypto.subtle === undefined)
    return 'Not checked: browsers check signatures on HTTPS pages only.';
  if (error instanceof DOMException && error.name === 'NotSupportedError')
    return 'Not checked: this browser cannot check Ed25519 signatures.';
  return 'Not checked: a file of the log could not be read. Try again.';
}

export function checkWords(look: 'plain' | 'notice' | 'alarm', text: string): HTMLElement {
  const classes = { plain: 'soft', notice: 'notice', alarm: 'notice notice-alarm' }[look];
  return dom`<p class="${classes}">${text}</p>`;
}

/** The parts of the result, with the receipt as a download. */
export function checkedParts(
  slug: string,
  row: PublicObservation,
  { index, checkpoint: { size, origin, vkey }, receipt }: CheckedEntry,
): readonly HTMLElement[] {
  const href = URL.createObjectURL(new Blob([receipt], { type: 'text/plain' }));
  const download = `${slug}-${row.metric}-${row.observedAt.slice(0, 'YYYY-MM-DD'.length)}.tlog-proof`;
  return [
    dom`<p>${badge('verified in your browser', 'good')} Entry ${index.toLocaleString('en')} of the signed log has this value.</p>`,
    dom`<p><a href="${href}" download="${download}">Download the receipt</a></p>`,
    dom`<details class="small"><summary>What was checked</summary>
<p>The log entry has the same value, source and times as this row. It is one of ${size.toLocaleString('en')} entries under the
root that the log ${origin} has signed. The key comes from this host: compare it with the one that its operator publishes
elsewhere.</p>
<p class="code vkey">${vkey}</p></details>`,
  ];
}

export interface CheckedEntry extends OpenedReceipt {
  /** The text of a `.tlog-proof` file. It can be verified without this service. */
  readonly receipt: string;
}

/**
 * Checks with the keys that the host names. Only the operator can confirm that these are the right keys.
 *
 * @throws TidemarkError `not-in-log-yet`: the entry follows some seconds after the publication
 * @throws LogVerificationError if the log contradicts the row, or itself
 */
export async function checkInLog(tidemark: Tidemark, slug: string, row: PublicObservation): Promise<CheckedEntry> {
  const vkeys = await tidemark.logKeys();
  const receipt = await tidemark.receipt(slug, row, { vkeys });
  return { ...(await openReceipt(receipt, vkeys)), receipt };
}
