/** Reads an entry that came from a log. */
import { canonicalJson, type Json } from '../values/canonical-json.ts';
import { type LogEntry, logEntrySchema, NEWEST_LOG_FORMAT } from './entries.ts';
import { LogFaultError } from './log-fault-error.ts';

/**
 * @param text the exact text of the entry
 * @throws LogFaultError for a later format, and for a text that is not an entry in canonical JSON
 */
export function parseEntry(text: string): LogEntry {
  const json = readJson(text);
  const format = (json as { readonly format?: unknown } | null)?.format;
  if (typeof format === 'number' && format > NEWEST_LOG_FORMAT) {
    throw new LogFaultError(`the entry has format ${format}: use a version that reads it`);
  }
  const parsed = logEntrySchema.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new LogFaultError(`not an entry: ${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'unknown'}`);
  }
  // The schema does not change the value. It is already in the order of canonical JSON, so this is fast.
  if (canonicalText(json as Json) !== text) throw new LogFaultError('the entry is not canonical JSON');
  return parsed.data;
}

/** Null for half of a surrogate pair, which canonical JSON cannot express. */
function canonicalText(json: Json): string | null {
  try {
    return canonicalJson(json);
  } catch {
    return null;
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new LogFaultError('the entry is not JSON');
  }
}
