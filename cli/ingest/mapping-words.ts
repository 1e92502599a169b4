/** Remedies for refused rows, in the words of the mapping that has made the records. */
import { ROW_REMEDIES } from '../../contract/problems/row-remedies.ts';

const OF_MAPPING: Readonly<Record<keyof typeof ROW_REMEDIES, string>> = {
  outlier:
    'send only its row, with --confirm-outliers, or give a market that often leaps its own "outliers" in the mapping',
  'amount.not-integral':
    'To round it, write "rounding": "nearest" in the mapping, or use a market with a larger quantity',
  'date.future': 'If the source publishes it ahead, write "announced": "when-ahead" in the observation of the mapping',
  'conflict.existing': 'to bring it back, send only its row, with --reinstate',
};

/** The detail of a row error for people who have written a mapping. */
export function inWordsOfMapping(code: string, detail: string): string {
  if (!Object.hasOwn(ROW_REMEDIES, code)) return detail;
  const known = code as keyof typeof ROW_REMEDIES;
  return detail.replace(ROW_REMEDIES[known], () => OF_MAPPING[known]);
}
