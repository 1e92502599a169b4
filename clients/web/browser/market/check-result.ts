/** Says in words whether a check in the signed log has proven a value. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { LogVerificationError } from '../../../typescript/signed-log.ts';
import { TidemarkError } from '../../../typescript/tidemark-error.ts';
import type { CheckedEntry } from '../history/log-receipt.ts';
import { badge, element } from './elements.ts';

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
  return element('p', { class: classes }, text);
}

/** With the receipt as a download. */
export function checkedParts(
  slug: string,
  row: PublicObservation,
  { index, checkpoint: { size, origin, vkey }, receipt }: CheckedEntry,
): readonly HTMLElement[] {
  const href = URL.createObjectURL(new Blob([receipt], { type: 'text/plain' }));
  const download = `${slug}-${row.metric}-${row.observedAt.slice(0, 'YYYY-MM-DD'.length)}.tlog-proof`;
  return [
    element(
      'p',
      {},
      badge('verified in your browser', 'good'),
      ` Entry ${index.toLocaleString('en')} of the signed log has this value.`,
    ),
    element('p', {}, element('a', { href, download }, 'Download the receipt')),
    element(
      'details',
      { class: 'small' },
      element('summary', {}, 'What was checked'),
      element(
        'p',
        {},
        `The log entry has the same value, source and times as this row. It is one of ${size.toLocaleString('en')} entries ` +
          `under the root that the log ${origin} has signed. The key comes from this host: compare it with the one that ` +
          'its operator publishes elsewhere.',
      ),
      element('p', { class: 'code vkey' }, vkey),
    ),
  ];
}
