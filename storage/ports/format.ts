/**
 * Checks whether this version of the code may use a ledger. Call it before any other use of the ledger, because a version
 * that does not know a format would misread its records.
 */

import type { Runtime } from '../aws/runtime.ts';
import { FORMAT_KEY, LEDGER_FORMAT, OLDEST_FORMAT } from '../records/formats.ts';
import { MARKET_INDEX } from '../records/markets.ts';
import { FormatTooNew, FormatTooOld } from './errors.ts';
import type { Ledger } from './ledger.ts';

type LedgerReads = Pick<Ledger, 'get' | 'query'>;

export type FormatDependencies = Pick<Runtime, 'newAttemptId'> & { readonly ledger: Ledger };

/** The format of a ledger; null if the ledger is empty. In format 1 no record stated it. */
export async function readFormat(ledger: LedgerReads): Promise<number | null> {
  const item = await ledger.get(FORMAT_KEY);
  if (item !== null) return item.value.format;
  return (await ledger.query(MARKET_INDEX.partition, { limit: 1 })).items.length > 0 ? 1 : null;
}

/**
 * Returns the format if this version uses it, null for an empty ledger. Changes nothing.
 *
 * @throws FormatTooNew, FormatTooOld
 */
export async function checkFormat(ledger: LedgerReads): Promise<number | null> {
  const format = await checkIsKnown(ledger);
  if (format === null || format === LEDGER_FORMAT) return format;
  throw new FormatTooOld(
    `The ledger has format ${format}, and this version of Tidemark uses format ${LEDGER_FORMAT}. To migrate it, invoke the function repair with { "migrate": true }. Nothing was changed.`,
  );
}

/** Like {@link checkFormat}, but accepts a format that this version can migrate. */
export async function checkIsKnown(ledger: LedgerReads): Promise<number | null> {
  const format = await readFormat(ledger);
  if (format !== null) assertIsKnown('ledger', format);
  return format;
}

/** @throws FormatTooNew, FormatTooOld: this version can neither use the format nor migrate it */
export function assertIsKnown(what: string, format: number): void {
  const known = `The ${what} has format ${format}, and this version of Tidemark uses format ${LEDGER_FORMAT}`;
  if (format > LEDGER_FORMAT) {
    throw new FormatTooNew(`${known}: run the version that wrote it, or a later one. Nothing was changed.`);
  }
  if (format < OLDEST_FORMAT) {
    throw new FormatTooOld(
      `${known}. No release wrote format ${format}, so none migrates it: begin a new one, and ingest again. Nothing was changed.`,
    );
  }
}

/** Checks the format, and gives an empty ledger the format of this version. Throws the errors of {@link checkFormat}. */
export async function claimFormat(dependencies: FormatDependencies): Promise<void> {
  const { ledger, newAttemptId } = dependencies;
  if ((await checkFormat(ledger)) !== null) return;
  const value = { format: LEDGER_FORMAT };
  const put = { kind: 'put', key: FORMAT_KEY, revision: LEDGER_FORMAT, value, if: { kind: 'absent' } } as const;
  const { committed } = await ledger.transact([put], { attemptId: newAttemptId() });
  // Another process was faster, perhaps with another version.
  if (!committed) await checkFormat(ledger);
}
