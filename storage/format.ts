/**
 * Checks whether this version of the code may use a ledger. To be called before any other use of the ledger, because a
 * version that does not know a format would misread its records.
 */
import { FormatTooNew, FormatTooOld } from './errors.ts';
import type { Ledger } from './ledger.ts';
import { OLD_HEAD_KEY } from './records/format-1.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from './records/formats.ts';
import { MARKET_INDEX } from './records/markets.ts';
import type { Runtime } from './runtime.ts';

type LedgerReads = Pick<Ledger, 'get' | 'query'>;

export type FormatDependencies = Pick<Runtime, 'newAttemptId'> & { readonly ledger: Ledger };

/** The format of a ledger; null if the ledger is empty. Versions of format 1 did not write a format. */
export async function readFormat(ledger: LedgerReads): Promise<number | null> {
  const item = await ledger.get(FORMAT_KEY);
  if (item !== null) return item.value.format;
  const isInUse =
    (await ledger.get(OLD_HEAD_KEY)) !== null ||
    (await ledger.query(MARKET_INDEX.partition, { limit: 1 })).items.length > 0;
  return isInUse ? 1 : null;
}

/**
 * Returns the format if this version uses it, null for an empty ledger. Changes nothing.
 *
 * @throws FormatTooNew, FormatTooOld
 */
export async function checkFormat(ledger: LedgerReads): Promise<number | null> {
  const format = await readFormat(ledger);
  if (format !== null) assertFormat('ledger', format);
  return format;
}

/** @throws FormatTooNew, FormatTooOld */
export function assertFormat(what: string, format: number): void {
  const known = `The ${what} has format ${format}, and this version of Tidemark uses format ${LEDGER_FORMAT}`;
  if (format > LEDGER_FORMAT) {
    throw new FormatTooNew(`${known}: run the version that wrote it, or a later one. Nothing was changed.`);
  }
  if (format < LEDGER_FORMAT) {
    throw new FormatTooOld(
      `${known}: migrate it first (docs/operations.md, "Migrate the ledger"). Nothing was changed.`,
    );
  }
}

/** Checks the format, and gives an empty ledger the format of this version. Errors as of {@link checkFormat}. */
export async function claimFormat(dependencies: FormatDependencies): Promise<void> {
  const { ledger, newAttemptId } = dependencies;
  if ((await checkFormat(ledger)) !== null) return;
  const { committed } = await ledger.transact([formatPut()], { attemptId: newAttemptId() });
  // Another process was faster, perhaps with another version.
  if (!committed) await checkFormat(ledger);
}

/** Refused if the ledger has another format than this one already; null: if it has any. */
export function formatPut(before: number | null = null) {
  const value = { format: LEDGER_FORMAT };
  const condition = before === null ? ABSENT : ({ kind: 'revision-is', revision: before } as const);
  return { kind: 'put', key: FORMAT_KEY, revision: LEDGER_FORMAT, value, if: condition } as const;
}

const ABSENT = { kind: 'absent' } as const;
