/**
 * The stream of the ledger's table as a trigger. Its records show that work is due, but not which: the records of one
 * transaction may arrive separately, and interleaved with others. So the invoked function reads the ledger. Only changes of
 * audit records matter by themselves, because no such change is allowed.
 */
import { TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../aws/names.ts';
import type { ItemKey } from '../ports/ledger.ts';
import { APPEND_ONLY } from '../records/keys.ts';

/** The answer to the event source mapping: the records to send again. It is always empty. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly never[];
}

/**
 * Does the due work. After an event of the stream no record is sent again, even on failure: the work is in the ledger, not
 * in the records, and the schedule follows within a minute. After an event of the schedule, a failure fails the invocation,
 * so that the function's error metric, which has an alarm, shows the failure.
 *
 * @param event the event of the invocation: from the stream, or from the schedule
 * @param failed receives the error after an event of the stream
 */
export async function handleStreamEvent(
  event: unknown,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<StreamAnswer> {
  const isStreamEvent = typeof event === 'object' && event !== null && 'Records' in event;
  await work().catch((error: unknown) => {
    if (!isStreamEvent) throw error;
    failed(error);
  });
  return { batchItemFailures: [] };
}

interface StreamRecord {
  readonly eventName?: string;
  readonly dynamodb?: { readonly Keys?: Readonly<Record<string, { readonly S?: string } | undefined>> };
}

/** The audit records that an event of the stream reports as replaced or removed. */
export function changedAuditRecords(event: unknown): readonly ItemKey[] {
  const { Records: records = [] } = (event ?? {}) as { readonly Records?: readonly StreamRecord[] };
  return records.flatMap(({ eventName, dynamodb }) => {
    const [partition = '', sort = ''] = [TABLE_PARTITION_KEY, TABLE_SORT_KEY].map((name) => dynamodb?.Keys?.[name]?.S);
    return eventName !== 'INSERT' && partition.startsWith(APPEND_ONLY) ? [{ partition, sort }] : [];
  });
}
