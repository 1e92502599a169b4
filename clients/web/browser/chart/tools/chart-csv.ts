/** The rows that a chart shows, as CSV: the columns of history files, between that of the market and the terms of the source. Pure. */
import { HISTORY_COLUMNS, historyCsvRecord } from '../../../../../contract/bodies/history-rows.ts';
import { csvRecord } from '../../../../../contract/values/csv.ts';
import { firstAtOrAfter } from '../chart-data.ts';
import { type SeenChart, seenSeries } from '../seen-chart.ts';

export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** Oldest first. RFC 4180 ends lines with CRLF. */
export function seenCsv(seen: Pick<SeenChart, 'data' | 'hidden' | 'range' | 'sourceOf'>): string {
  const { data, range, sourceOf } = seen;
  const lines = [['market', ...HISTORY_COLUMNS, 'licence', 'attribution'].join(',')];
  const end = firstAtOrAfter(data.seconds, range.max);
  for (let at = firstAtOrAfter(data.seconds, range.min); at < end; at++) {
    for (const { line } of seenSeries(seen)) {
      const row = line.rows[at];
      if (row === undefined) continue;
      const { licence, attribution } = sourceOf(line.slug, row.sourceLabel) ?? {};
      lines.push([csvRecord([line.slug]), historyCsvRecord(row), csvRecord([licence, attribution])].join(','));
    }
  }
  return `${lines.join('\r\n')}\r\n`;
}
