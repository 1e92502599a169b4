/** Audit records: those of one batch as one row. */
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
