/** Checks the log again whenever the snapshot names another root. */
import { LogVerificationError } from '../../../typescript/signed-log.ts';
import { PublicAnswers } from '../history/public-answers.ts';
import { type CheckedLog, checkLog, logFault } from './log-check.ts';

const LOG = '/api/v1/log';

export class LogWatch {
  checked: CheckedLog | null = null;
  /** By this computer's clock. */
  checkedMs = 0;
  /** Why the last check did not end well. Null: it did, or there was none yet. */
  fault: ReturnType<typeof logFault> | null = null;
  #root: string | null = null;

  /** @param root that the snapshot names. Never rejects */
  async refresh(root: string): Promise<void> {
    if (root === this.#root && this.fault === null) return;
    if (globalThis.crypto?.subtle === undefined) {
      this.fault = { isFound: false, text: 'browsers can check signatures only on https, or on this machine' };
      return;
    }
    try {
      this.checked = await this.#check();
      this.checkedMs = Date.now();
      this.#root = root;
      this.fault = null;
    } catch (error) {
      this.fault = logFault(error);
    }
  }

  async #check(): Promise<CheckedLog> {
    const answers = new PublicAnswers();
    const from = (cache: 'default' | 'reload') => async (path: string) =>
      await answers.readBytes(`${LOG}/${path}`, cache);
    try {
      return await checkLog(from('default'));
    } catch (error) {
      if (!(error instanceof LogVerificationError)) throw error;
      // Hashes may be in this browser's cache from another log of this host.
      return await checkLog(from('reload'));
    }
  }
}
