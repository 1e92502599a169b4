/** The service that the tools ask. */

import type { PublicObservation } from '../../contract/values/metric.ts';
import { openReceipt } from '../typescript/receipts.ts';
import { LogVerificationError } from '../typescript/signed-log.ts';
import { Tidemark } from '../typescript/tidemark.ts';
import { TidemarkError } from '../typescript/tidemark-error.ts';
import type { LogPlace } from './values.ts';

export interface ServiceOptions {
  /** E.g. `https://data.example`. */
  readonly url: string;
  /** The verifier keys of the log, from its operator. Without one, the keys that the host names are used, and answers say so. */
  readonly vkeys: readonly string[];
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
  readonly fetch?: typeof fetch;
}

export class AskedService {
  readonly tidemark: Tidemark;
  readonly nowMs: () => number;
  readonly #vkeys: readonly string[];

  constructor({ url, vkeys, nowMs, fetch: ask }: ServiceOptions) {
    this.#vkeys = vkeys;
    this.nowMs = nowMs;
    this.tidemark = new Tidemark({ url, system: { nowMs, ...(ask === undefined ? {} : { fetch: ask }) } });
  }

  /**
   * Finds the entry of a row in the signed log. An entry that contradicts the row is an error; a missing entry is stated in the
   * answer.
   */
  async placeOf(slug: string, row: PublicObservation): Promise<LogPlace & { readonly receipt: string | null }> {
    try {
      const { vkeys, note } = await this.#keys();
      const receipt = await this.tidemark.receipt(slug, row, { vkeys });
      const { index } = await openReceipt(receipt, vkeys);
      return { index, verified: true, note, receipt };
    } catch (error) {
      const missing = { index: null, verified: false, receipt: null };
      if (error instanceof TidemarkError && error.code === 'not-in-log-yet') {
        return { ...missing, note: 'It is newer than the checkpoint of the log: ask again in a minute.' };
      }
      if (error instanceof TidemarkError && error.status === 404) {
        return { ...missing, note: 'This service publishes no log.' };
      }
      if (!(error instanceof LogVerificationError)) throw error;
      const detail = `the signed log contradicts this value, so it is not given: ${error.message}. Tell the operator`;
      throw new TidemarkError('log-contradiction', { detail, cause: error });
    }
  }

  /** Null: this service publishes no log. */
  async logSize(): Promise<number | null> {
    return await this.tidemark.logSize().catch((error: unknown) => {
      if (error instanceof TidemarkError && error.status === 404) return null;
      throw error;
    });
  }

  async #keys(): Promise<{ readonly vkeys: readonly string[]; readonly note: string }> {
    if (this.#vkeys.length > 0) return { vkeys: this.#vkeys, note: 'Checked by the key that the user gave.' };
    return {
      vkeys: await this.tidemark.logKeys(),
      note: 'Checked by the key that the host itself names: it shows that the host is consistent.',
    };
  }
}
