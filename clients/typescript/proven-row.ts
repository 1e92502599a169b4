import type { PublicObservation } from '../../contract/values/metric.ts';
import { decimalText } from '../../contract/values/money/decimal-text.ts';
import { LogVerificationError, type ProvenEntry, type SignedLog } from './signed-log.ts';

/** Members of an entry that a row does not have. */
const OF_THE_ENTRY: ReadonlySet<string> = new Set(['format', 'type', 'market', 'revision']);
/**
 * Members that may be absent. An added `announced` would hide a price. An added `publicReason` would show a reason that is not
 * signed.
 */
const NOT_IN_EACH = ['announced', 'publicReason'];
/**
 * A row that is newer than the log by less than this may lack its entry: a service publishes a value some seconds before its
 * entry.
 */
const NEWER_THAN_LOG_MS = 10 * 60_000;

/**
 * The entry of a row, with the same content. Null: the log may not have it yet.
 *
 * @throws LogVerificationError if the log has other content, or must have the entry and does not
 */
export async function provenRow(
  log: SignedLog,
  slug: string,
  row: PublicObservation,
  nowMs: number,
): Promise<ProvenEntry | null> {
  const proven = await log.prove(row);
  if (proven !== null) assertSameRow(slug, row, proven);
  else if (nowMs - Date.parse(row.recordedAt) >= NEWER_THAN_LOG_MS) {
    throw new LogVerificationError(`${row.id} is not in the log`);
  }
  return proven;
}

/** @throws LogVerificationError for a row whose content differs from the entry */
export function assertSameRow(slug: string, row: PublicObservation, { entry, index }: ProvenEntry): void {
  const shown = row as unknown as Readonly<Record<string, unknown>>;
  const differs = [...Object.keys(entry), ...NOT_IN_EACH].find(
    (name) => !OF_THE_ENTRY.has(name) && shown[name] !== entry[name],
  );
  const wrong = entry.market !== slug ? 'market' : (differs ?? (isDecimalRight(row) ? null : 'decimal'));
  if (wrong === null) return;
  throw new LogVerificationError(`${wrong} of ${row.id} differs from entry ${index} of the log`);
}

/** Checks `decimal`, which the entry does not have: it is derived from digits and currency, which were compared. */
function isDecimalRight(row: PublicObservation): boolean {
  if (row.kind !== 'money') return true;
  const { amountMinor, minorDigits, decimal } = row;
  return (
    decimal === (amountMinor === null ? null : decimalText(String(Math.abs(amountMinor)), minorDigits, amountMinor < 0))
  );
}
