/** A failure as text, with its stack and its causes. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${faultText(error.cause)}`;
}
