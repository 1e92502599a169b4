/** The rows that a chart shows, as CSV: the columns of history files, after that of the market. Pure. */
import { HISTORY_COLUMNS, historyCsvRecord } from '../../../../../contract/bodies/history-rows.ts';
import { csvRecord } from '../../../../../contract/values/csv.ts';
import { firstAtOrAfter } from '../chart-data.ts';
import { type SeenLines, seenSeries } from '../seen-chart.ts';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** Oldest first. RFC 4180 ends lines with CRLF. */
export function seenCsv(seen: Pick<SeenLines, 'data' | 'hidden' | 'range'>): string {
  const { data, range } = seen;
  const lines = [['market', ...HISTORY_COLUMNS].join(',')];
  const end = firstAtOrAfter(data.seconds, range.max);
  for (let at = firstAtOrAfter(data.seconds, range.min); at < end; at++) {
    for (const { line } of seenSeries(seen)) {
      const row = line.rows[at];
      if (row !== undefined) lines.push(`${csvRecord([line.slug])},${historyCsvRecord(row)}`);
    }
  }
  return `${lines.join('\r\n')}\r\n`;
}
