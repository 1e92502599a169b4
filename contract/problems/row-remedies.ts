/** Remedies for refused rows: in the words of a record, and in those of the mapping that has made the record. */
import type { RowErrorCode } from '../ingest/ingest-records.ts';

export const ROW_REMEDIES = {
  outlier: {
    record: 'send it again with outlierConfirmed, or give a market that often leaps a rule (outliers)',
    mapping:
      'send only its row, with --confirm-outliers, or give a market that often leaps its own "outliers" in the mapping',
  },
  'amount.not-integral': {
    record: 'Send it without exact to round it, or use a market with a larger quantity',
    mapping: 'To round it, write "rounding": "nearest" in the mapping, or use a market with a larger quantity',
  },
  'date.future': {
    record: 'If the source publishes it ahead, set announced',
    mapping: 'If the source publishes it ahead, write "announced": "when-ahead" in the observation of the mapping',
  },
  'conflict.existing': {
    record: 'to bring it back, set reinstated',
    mapping: 'to bring it back, send only its row, with --reinstate',
  },
} as const satisfies Partial<Record<RowErrorCode, { readonly record: string; readonly mapping: string }>>;

/** The detail of a row error for people who have written a mapping. */
export function inWordsOfMapping(code: string, detail: string): string {
  if (!Object.hasOwn(ROW_REMEDIES, code)) return detail;
  const { record, mapping } = ROW_REMEDIES[code as keyof typeof ROW_REMEDIES];
  return detail.replace(record, () => mapping);
}
