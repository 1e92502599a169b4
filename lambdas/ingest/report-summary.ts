/** The result of a batch and the next step, in one line for people. */
import type { BatchReport } from '../../contract/ingest-records.ts';
import { BATCH_FAILED } from '../../contract/ingest-records.ts';

type Summarised = Pick<BatchReport, 'state' | 'records' | 'counts' | 'errors' | 'mode'>;

export function summaryOf({ state, records, counts, errors, mode }: Summarised): string {
  const { accepted, unchanged, refused } = counts;
  if (errors.some(({ code }) => code === BATCH_FAILED)) {
    return `The batch could not be applied completely: ${accepted + unchanged} of ${records} records are taken in. Send it again, in smaller batches.`;
  }
  const aside = `${refused} of ${records} records ${state === 'examined' ? 'would be' : 'were'} set aside`;
  const remedy = 'correct them by "errors" and send them again';
  switch (state) {
    case 'queued':
      return `${records} records wait for a worker.`;
    case 'applying':
      return `${accepted + unchanged + refused} of ${records} records are done.`;
    case 'refused':
      return `Nothing is taken in, because ${refused} of ${records} records were refused: ${remedy} with the others, or send the batch with "partial".`;
    case 'examined':
      return `A dry run: ${accepted} records would be taken in, and ${unchanged} are known already. ${refused === 0 ? 'Nothing' : aside}${refused === 0 ? ' would be refused' : `: ${remedy}`}.`;
    case 'applied':
      return `${accepted} records are taken in, and ${unchanged} were known already.${refused === 0 ? '' : ` ${aside}: ${remedy}${mode === 'append' ? ', changed ones in a batch with "mode": "correct"' : ''}.`}`;
  }
}
