/** Finds an observation in the signed log, checks it in this browser, and makes its receipt. */

import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { assertSameRow } from '../../../typescript/proven-row.ts';
import { receiptOf } from '../../../typescript/receipts.ts';
import { importLogKey, LogVerificationError, namedKeys, SignedLog } from '../../../typescript/signed-log.ts';

/** GETs a file below the root of the log. Rejects if it is not there. */
export type LogBytesReader = (path: string) => Promise<Uint8Array<ArrayBuffer>>;

export interface CheckedEntry {
  /** Its place in the log, from 0. */
  readonly index: number;
  /** The number of entries of the log. */
  readonly size: number;
  readonly origin: string;
  /** The key that has signed, as the host names it. Only the operator can say that it is his. */
  readonly vkey: string;
  /** The text of a `.tlog-proof` file. It can be verified without this service. */
  readonly receipt: string;
}

/** The observation is not in the log, or is not yet: its entry follows some seconds after its publication. */
export class NotInLogError extends Error {
  override readonly name = 'NotInLogError';
}

export class LogChecker {
  readonly #read: LogBytesReader;
  #opened: Promise<SignedLog> | null = null;

  constructor(read: LogBytesReader) {
    this.#read = read;
  }

  /**
   * @throws NotInLogError
   * @throws LogVerificationError if the log contradicts the row, or itself
   */
  async check(slug: string, row: PublicObservation): Promise<CheckedEntry> {
    this.#opened ??= openLog(this.#read);
    try {
      return await checkIn(await this.#opened, slug, row);
    } catch (error) {
      // The log has grown, or its last files have gone: the newest checkpoint decides.
      this.#opened = null;
      if (error instanceof LogVerificationError) throw error;
      this.#opened = openLog(this.#read);
      return await checkIn(await this.#opened, slug, row);
    }
  }
}

/** Opens the log with the keys that its host names. */
async function openLog(read: LogBytesReader): Promise<SignedLog> {
  const vkeys = await namedKeys(read);
  return await SignedLog.open(read, await Promise.all(vkeys.map(importLogKey)));
}

async function checkIn(log: SignedLog, slug: string, row: PublicObservation): Promise<CheckedEntry> {
  const proven = await log.prove(row);
  if (proven === null) throw new NotInLogError(`${row.id} is not in the log`);
  assertSameRow(slug, row, proven);
  const { size, origin, vkey } = log.checkpoint;
  return { index: proven.index, size, origin, vkey, receipt: await receiptOf(log, proven) };
}
