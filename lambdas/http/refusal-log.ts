/** Log lines of refusals: one a minute for each kind, with the number of earlier ones. So a stranger cannot fill the log. */
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { RequestLog } from '../pipeline/handle.ts';

const QUIET_MS = 60_000;

/** `repeated`: the refusals of the same kind since the last line. */
export type LoggedRequest = RequestLog & { readonly repeated: number };

/**
 * Passes on every request without a problem, and every fault of the code. Of other refusals, it passes on the first of its kind
 * (operation and code) in each minute. There are few kinds, so memory is bounded.
 */
export function createRefusalLog(
  { nowMs }: Pick<Runtime, 'nowMs'>,
  log: (entry: LoggedRequest) => void,
): (entry: RequestLog) => void {
  const kinds = new Map<string, { readonly saidAtMs: number; repeated: number }>();
  return (entry) => {
    const { code, operation } = entry;
    if (code === null || code === 'internal-error') return log({ ...entry, repeated: 0 });
    const kind = `${operation} ${code}`;
    const last = kinds.get(kind);
    // The clock may be set back.
    if (last !== undefined && Math.abs(nowMs() - last.saidAtMs) < QUIET_MS) {
      last.repeated++;
      return;
    }
    kinds.set(kind, { saidAtMs: nowMs(), repeated: 0 });
    log({ ...entry, repeated: last?.repeated ?? 0 });
  };
}
