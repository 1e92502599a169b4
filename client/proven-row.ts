/** Whether a row says the same as its entry in the signed log. */
import { decimalText } from '../contract/decimal-text.ts';
import type { PublicObservation } from '../contract/metric.ts';
import { LogVerificationError, type ProvenEntry } from './signed-log.ts';

/** Members of an entry that are no members of a row. */
const OF_THE_ENTRY: ReadonlySet<string> = new Set(['format', 'type', 'market', 'revision']);
/** A service publishes a value some seconds before its entry. */
const NEWER_THAN_LOG_MS = 10 * 60_000;

/** Whether the log may not have the row yet. */
export function isNewerThanLog({ recordedAt }: PublicObservation, nowMs: number): boolean {
  return nowMs - Date.parse(recordedAt) < NEWER_THAN_LOG_MS;
}

/** @throws LogVerificationError for a row that says something else than the entry */
export function assertSameRow(slug: string, row: PublicObservation, { entry, index }: ProvenEntry): void {
  const shown = row as unknown as Readonly<Record<string, unknown>>;
  const differs = Object.keys(entry).find((name) => !OF_THE_ENTRY.has(name) && shown[name] !== entry[name]);
  const wrong = entry.market !== slug ? 'market' : (differs ?? (isDecimalRight(row) ? null : 'decimal'));
  if (wrong === null) return;
  throw new LogVerificationError(`${wrong} of ${row.id} differs from entry ${index} of the log`);
}

/** The entry has no `decimal`, but the digits of the currency, which were compared. */
function isDecimalRight(row: PublicObservation): boolean {
  if (row.kind !== 'money') return true;
  const { amountMinor, minorDigits, decimal } = row;
  return (
    decimal === (amountMinor === null ? null : decimalText(String(Math.abs(amountMinor)), minorDigits, amountMinor < 0))
  );
}
