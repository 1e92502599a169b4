/**
 * The log of the embedded server: a line for each batch, upload, generation and run of a source, and for each fault. The names
 * of the fields are fixed: docs/operations.md lists them.
 */
import { redact } from '../../contract/values/redact.ts';
import type { Environment } from '../settings/config.ts';
import { printable } from '../terminal/printable.ts';
import { SettingError } from './start-error.ts';

const LOG_FORMATS = ['text', 'json', 'quiet'] as const;

/** `quiet`: faults only, as text. */
export type LogFormat = (typeof LOG_FORMATS)[number];

export type LogFields = { readonly [name: string]: string | number | boolean | null };

export interface Log {
  /** Logs an event. @param what its name, of one or two words */
  readonly info: (what: string, fields: LogFields) => void;
  readonly fault: (what: string, cause: unknown) => void;
}

/** Reads `TIDEMARK_LOG`. @throws SettingError for an unknown format */
export function readLogFormat({ TIDEMARK_LOG: format = '' }: Environment): LogFormat {
  const known = LOG_FORMATS.find((name) => name === (format || 'text'));
  if (known !== undefined) return known;
  throw new SettingError(`TIDEMARK_LOG is ${JSON.stringify(format)}: set one of ${LOG_FORMATS.join(', ')}.`);
}

export interface LogStreams {
  readonly output: Pick<NodeJS.WritableStream, 'write'>;
  readonly errors: Pick<NodeJS.WritableStream, 'write'>;
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** Writes nothing that looks like a credential or an e-mail address. A line ends at the first line break of its text. */
export function openLog(format: LogFormat, { output, errors, nowMs }: LogStreams): Log {
  const time = () => new Date(nowMs()).toISOString();
  const json = (line: object) =>
    `${printable(JSON.stringify(line, (_, value) => (typeof value === 'string' ? redact(value) : value)))}\n`;
  return {
    info(what, fields) {
      if (format === 'json') output.write(json({ level: 'info', time: time(), what, ...fields }));
      else if (format === 'text') output.write(`${time()} ${oneLine(`${what}${textOf(fields)}`)}\n`);
    },
    fault(what, fault) {
      const cause = fault instanceof Error ? fault.message : String(fault);
      if (format === 'json') errors.write(json({ level: 'error', time: time(), what, cause }));
      else errors.write(`${time()} ${oneLine(`${what}: ${cause}`)}\n`);
    },
  };
}

/** ` name=value` for each field. A value with unusual characters is quoted. */
function textOf(fields: LogFields): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      const text = String(value);
      return ` ${name}=${/^[\w.:/+-]+$/.test(text) ? text : JSON.stringify(text)}`;
    })
    .join('');
}

/** Part of the text comes from outside: it must not start a new line, or control a terminal. */
function oneLine(text: string): string {
  return printable(redact(text).replaceAll(/[\r\n\u2028\u2029]+/g, ' '));
}
