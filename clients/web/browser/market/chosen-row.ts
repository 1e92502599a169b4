/** The value that the address of the page names. Pure. */
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import type { AsOf } from '../../../typescript/as-of.ts';

/**
 * As of an earlier moment, a value that was not known then is not shown. One that was replaced or retracted by then is: its
 * citation leads to it.
 *
 * @param visible of each market of the chart, newest first. @param versionOf any version that was read
 */
export function chosenRow(
  point: string,
  asOf: AsOf | null,
  visible: readonly (readonly PublicObservation[])[],
  versionOf: (id: string) => PublicObservation | undefined,
): PublicObservation | null {
  const row = versionOf(point);
  if (asOf === null || row === undefined) return row ?? null;
  for (const rows of visible) {
    const shown = rows.find(({ id }) => id === point);
    if (shown !== undefined) return shown;
  }
  const known = asOf.clock === 'recorded' ? row.recordedAt : (row.releasedAt ?? row.recordedAt);
  return Date.parse(known) <= asOf.atMs ? row : null;
}
