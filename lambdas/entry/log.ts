/** Log lines of the Lambda functions: one JSON object each, without anything that looks like a credential. */
import { redact } from '../../contract/values/redact.ts';
import { type LoggedMetric, measuredLine } from '../../storage/aws/measured-line.ts';

type Fields = { readonly [name: string]: string | number | boolean | null };

/** Writes to standard output, which Lambda stores line by line. */
export function log(level: 'info' | 'error', what: string, fields: Fields = {}): void {
  const line = { level, time: new Date().toISOString(), what, ...fields };
  const text = JSON.stringify(line, (_, value) => (typeof value === 'string' ? redact(value) : value));
  process.stdout.write(`${text}\n`);
}

/** Writes a line with metrics. Its fields contain no text from outside. */
export function logMeasured(what: string, metrics: readonly LoggedMetric[], fields: Fields): void {
  process.stdout.write(`${JSON.stringify(measuredLine('info', Date.now(), metrics, { what, ...fields }))}\n`);
}
