/**
 * The daily export and the daily faces as a Lambda function, on a schedule. It makes those of today unless they are there.
 * If the time of an invocation is not enough, the next one goes on. The first export of all is made again that day, once
 * nothing was published for a while; by hand, `{ "again": true }` makes that of any day again while it lasts.
 */
import type { LambdaInvocation } from '../../contract/aws.ts';
import { checkFormat } from '../../storage/format.ts';
import { retriedOnce } from '../../storage/retried-once.ts';
import { readEntries } from '../core/log/log-chunks.ts';
import { Superseded } from '../errors.ts';
import { makeFaces } from '../projections/compat/make-faces.ts';
import { makeExport } from '../projections/exports/make-export.ts';
import { logLine } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();
const formatIsOurs = retriedOnce(() => checkFormat(storage.ledger));

/** A part takes some 10 s, and each earlier part that it changes as much. An estimate, not measured on an account. */
const LONGEST_PART_MS = 300_000;

const QUIET_MS = 60_000;

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  const isAsked = (Object(event) as { readonly again?: unknown }).again === true;
  const again = isAsked ? 'always' : ({ afterQuietMs: QUIET_MS } as const);
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_PART_MS;
  const readTile = (tile: number, width: number) => readEntries(storage.ledger, tile, width);
  try {
    if (storage.projections?.has('exports')) {
      logOutcome('exported', await makeExport({ storage, readEntries: readTile, hasTime, again }));
    }
    if (storage.projections?.has('faces')) logOutcome('made faces', await makeFaces({ storage, hasTime }));
  } catch (error) {
    // Another invocation does the same work, or the list has changed: the next one goes on.
    if (!(error instanceof Superseded)) throw error;
    logLine('info', 'superseded', { reason: error.message });
  }
}

function logOutcome(event: string, { kind, date }: { readonly kind: string; readonly date: string }): void {
  if (kind !== 'present' && kind !== 'no-data') logLine('info', event, { kind, date });
}
