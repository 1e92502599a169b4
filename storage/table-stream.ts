/**
 * The stream of the ledger's table as a doorbell. Its records say that something is due and not what: one transaction's
 * may arrive apart and interleaved with others, so whoever is woken reads the ledger.
 */

/** What the event source mapping of a stream is answered with: which records to send again. */
export interface StreamAnswer {
  readonly batchItemFailures: readonly never[];
}

/**
 * Does what is due. After a ring of the stream nothing is sent again, whatever fails: the work is in the ledger, not in
 * the records, and the schedule comes within a minute. A schedule's invocation fails with what failed, so that the
 * function's errors, which an alarm counts, tell of work that stays undone.
 *
 * @param event what the function was invoked with: an event of a stream, or of a schedule
 * @param failed is told of what went wrong after a ring of the stream
 */
export async function answerDoorbell(
  event: unknown,
  work: () => Promise<void>,
  failed: (error: unknown) => void,
): Promise<StreamAnswer> {
  const isRing = typeof event === 'object' && event !== null && 'Records' in event;
  await work().catch((error: unknown) => {
    if (!isRing) throw error;
    failed(error);
  });
  return { batchItemFailures: [] };
}
