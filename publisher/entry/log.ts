/** Log lines of the publisher's Lambda functions: one JSON object each. */

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function log(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), what, ...fields })}\n`);
}

/** A failure as text, with its stack and its causes. */
export function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${faultText(error.cause)}`;
}
