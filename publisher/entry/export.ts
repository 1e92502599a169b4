/**
 * The daily export as a Lambda function, on a schedule. It makes the export of today unless it is there. If the time of an
 * invocation is not enough, the next one goes on.
 */
import type { LambdaInvocation } from '../../contract/aws.ts';
import { checkFormat } from '../../storage/format.ts';
import { retriedOnce } from '../../storage/retried-once.ts';
import { Superseded } from '../errors.ts';
import { makeExport } from '../exports/make-export.ts';
import { readEntries } from '../log/log-chunks.ts';
import { logLine } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();
const formatIsOurs = retriedOnce(() => checkFormat(storage.ledger));

/** A part takes some 10 s, and each earlier part that it changes as much. An estimate, not measured on an account. */
const LONGEST_PART_MS = 300_000;

export async function handler(_event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  if (storage.projections?.has('exports') !== true) return;
  try {
    const { kind, date } = await makeExport({
      storage,
      readEntries: (tile, width) => readEntries(storage.ledger, tile, width),
      hasTime: () => invocation.getRemainingTimeInMillis() > LONGEST_PART_MS,
    });
    if (kind !== 'present' && kind !== 'no-data') logLine('info', 'exported', { kind, date });
  } catch (error) {
    // Another invocation does the same work, or the list has changed: the next one goes on.
    if (!(error instanceof Superseded)) throw error;
    logLine('info', 'superseded', { reason: error.message });
  }
}
