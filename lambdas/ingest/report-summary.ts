/** The result of a batch and the next step, in one line for people. */
import type { BatchReport } from '../../contract/ingest/ingest-records.ts';
import { BATCH_FAILED } from '../../contract/ingest/ingest-records.ts';

type Summarised = Pick<BatchReport, 'state' | 'records' | 'counts' | 'errors' | 'mode'>;

export function summaryOf({ state, records, counts, errors, mode }: Summarised): string {
  const { accepted, unchanged, refused } = counts;
  if (errors.some(({ code }) => code === BATCH_FAILED)) {
    return `The batch could not be applied completely: ${accepted + unchanged} of ${counted(records)} ${are(accepted + unchanged)} stored. Send it again, in smaller batches.`;
  }
  const refusedOf = `${refused} of ${counted(records)}`;
  const remedy = `correct ${refused === 1 ? 'it' : 'them'} by "errors" and send ${refused === 1 ? 'it' : 'them'} again`;
  switch (state) {
    case 'queued':
      return `${counted(records)} ${records === 1 ? 'waits' : 'wait'} for a worker.`;
    case 'applying':
      return `${accepted + unchanged + refused} of ${counted(records)} ${are(accepted + unchanged + refused)} done.`;
    case 'refused':
      return `Nothing is stored, because ${refusedOf} ${were(refused)} refused: ${remedy} with the others, or send the batch with "partial".`;
    case 'examined':
      return `A dry run: ${counted(accepted)} would be stored, and ${unchanged} ${are(unchanged)} known already. ${refused === 0 ? 'Nothing would be refused' : `${refusedOf} would be set aside: ${remedy}`}.`;
    case 'applied':
      return `${counted(accepted)} ${are(accepted)} stored, and ${unchanged} ${were(unchanged)} known already.${refused === 0 ? '' : ` ${refusedOf} ${were(refused)} set aside: ${remedy}${mode === 'append' ? ', changed ones in a batch with "mode": "correct"' : ''}.`}`;
  }
}

const counted = (records: number): string => `${records} ${records === 1 ? 'record' : 'records'}`;
const are = (count: number): string => (count === 1 ? 'is' : 'are');
const were = (count: number): string => (count === 1 ? 'was' : 'were');
