/** Remedies for refused rows, in the words of a record. The command line has the words of a mapping for them. */
import type { RowErrorCode } from '../ingest/ingest-records.ts';

export const ROW_REMEDIES = {
  outlier: 'send it again with outlierConfirmed, or give a market that often leaps a rule (outliers)',
  'amount.not-integral': 'Send it without exact to round it, or use a market with a larger quantity',
  'date.future': 'If the source publishes it ahead, set announced',
  'conflict.existing': 'to bring it back, set reinstated',
} as const satisfies Partial<Record<RowErrorCode, string>>;
