/** Asks again while somebody looks at the page. */

/** Twice as long as caches keep an answer: a question sooner would get the same one. */
export const POLL_SECONDS = 30;

/**
 * Asks at once, then every half a minute or so, when the tab is shown again, and when the computer is online again. Between
 * two questions the page is only drawn again, because ages go on. A hidden tab does nothing.
 *
 * @param refresh never rejects. One at a time
 * @returns asks now
 */
export function pollWhileVisible(refresh: () => Promise<void>, draw: () => void, seconds = POLL_SECONDS): () => void {
  let askedMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  const ask = async (): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    askedMs = performance.now();
    await refresh();
    isAsking = false;
    draw();
  };
  const tick = (): void => {
    if (document.visibilityState === 'hidden') return;
    if (performance.now() - askedMs >= seconds * 1000) void ask();
    else draw();
  };
  addEventListener('online', () => void ask());
  document.addEventListener('visibilitychange', tick);
  setInterval(tick, (seconds * 1000) / 3);
  void ask();
  return () => void ask();
}
