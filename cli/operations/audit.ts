/** Audit records: those of one batch as one row, and new ones as they come. */
import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import type { auditRecordSchema } from '../../contract/operations/audit-records.ts';
import { print, Table } from '../program/output.ts';

type AuditRecord = z.infer<typeof auditRecordSchema>;
type Row = Readonly<Record<string, unknown>>;

/**
 * A batch leaves a record for each of its transactions, and an upload for each of its parts: rows that follow each other
 * become one, with their number. The first one is the newest.
 */
export async function* changesByBatch(records: AsyncIterable<Row>): AsyncGenerator<Row> {
  let open: { readonly record: Row; changes: number } | null = null;
  for await (const record of records) {
    if (open !== null && isOfBatch(open.record, record)) {
      open.changes += 1;
      continue;
    }
    if (open !== null) yield { ...open.record, changes: open.changes };
    open = { record, changes: 1 };
  }
  if (open !== null) yield { ...open.record, changes: open.changes };
}

function isOfBatch(one: Row, other: Row): boolean {
  const name = ({ actor, action, target, requestId }: Row) =>
    JSON.stringify([actor, action, target, String(requestId).slice(0, 'bat_'.length + ULID_TIME)]);
  return one.action === 'system:ingest' && name(one) === name(other);
}

/** The batches of an upload's parts have ids of the same moment: the first characters of a ULID. */
const ULID_TIME = 10;

/** A transaction may be seen so much later than its time says. */
const LATE_MS = 60_000;
const PAUSES_MOST = 8;
const COLUMNS = ['at', 'actor', 'action', 'target', 'requestId'] as const;

/**
 * Prints the newest records, and then new ones until the process is ended. Asks less often while nothing happens.
 *
 * @param read reads records, newest first: of a day, or else as the filter says
 * @param isByDay whether the listing is that of the current day, which ends at midnight (UTC)
 */
export async function tailAudit(
  read: (day?: string) => AsyncIterable<AuditRecord>,
  options: { readonly isByDay: boolean; readonly first: number; readonly everySeconds: number; readonly json: boolean },
): Promise<never> {
  const { isByDay, first, everySeconds, json } = options;
  const table = new Table(COLUMNS.map((name) => name.toUpperCase()));
  const seen = new Map<string, number>();
  let sinceMs = 0;
  let pause = 1;
  /** Adds the new ones. Returns the day of the newest one. */
  const take = async (fresh: AuditRecord[], records: AsyncIterable<AuditRecord>, most = Infinity) => {
    let newestDay: string | null = null;
    for await (const record of records) {
      newestDay ??= dayOf(Date.parse(record.at));
      if (fresh.length === most || Date.parse(record.at) < sinceMs) break;
      if (!seen.has(record.id)) fresh.push(record);
    }
    return newestDay;
  };
  const shown: AuditRecord[] = [];
  await take(shown, read(), first);
  const beginMs = Date.parse(shown.at(-1)?.at ?? new Date(0).toISOString());
  for (let fresh = shown; ; ) {
    for (const record of fresh.toReversed()) {
      seen.set(record.id, Date.parse(record.at));
      if (json) await print(`${JSON.stringify(record)}\n`);
      else await table.add(COLUMNS.map((name) => record[name]));
    }
    // Rows are held until their widths are known.
    if (fresh.length > 0) await table.end();
    sinceMs = Math.max(beginMs, ...[...seen.values()].map((atMs) => atMs - LATE_MS));
    for (const [id, atMs] of seen) if (atMs < sinceMs) seen.delete(id);
    pause = fresh.length > 0 ? 1 : Math.min(PAUSES_MOST, pause * 1.5);
    await sleep(everySeconds * 1000 * pause);
    fresh = [];
    const newestDay = await take(fresh, read());
    const lastDay = dayOf(sinceMs);
    if (isByDay && sinceMs > 0 && newestDay !== lastDay) await take(fresh, read(lastDay));
  }
}

const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, '2026-11-20'.length);
