/** Log lines of the Lambda functions: one JSON object each, without anything that looks like a credential. */
import { redact } from '../../contract/values/redact.ts';

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function log(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  const line = { level, time: new Date().toISOString(), what, ...fields };
  const text = JSON.stringify(line, (_, value) => (typeof value === 'string' ? redact(value) : value));
  process.stdout.write(`${text}\n`);
}
