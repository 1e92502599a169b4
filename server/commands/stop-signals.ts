/** The signals by which people and supervisors stop a command that serves. */

/**
 * One Ctrl-C may arrive twice: from the terminal, and from npm, which forwards the signal. A repetition within this time is
 * ignored.
 */
const SAME_SIGNAL_MS = 1_000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type StopSignal = (typeof SIGNALS)[number];

/**
 * The first signal calls `stop`. A second one ends the process at once.
 *
 * @returns a function that restores the default handling of signals
 */
export function onStopSignal(stop: (signal: StopSignal) => void): () => void {
  let sinceMs: number | null = null;
  const onSignal = (signal: StopSignal): void => {
    if (sinceMs === null) {
      sinceMs = performance.now();
      stop(signal);
    } else if (performance.now() - sinceMs >= SAME_SIGNAL_MS) {
      process.exit(signal === 'SIGINT' ? 130 : 143);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}
