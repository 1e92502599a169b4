/**
 * The daily files of projections as a Lambda function, on a schedule. It makes today's files unless they exist. If the time
 * of an invocation is too short, the next one continues. The very first export is made again on the same day, once nothing
 * was published for a while. By hand, `{ "again": true }` makes today's export again, `{ "keep": "2026-11-22", "label": "…"
 * }` keeps the export of a day, and `{ "unkeep": "2026-11-22" }` ends that.
 */

import { keptLabelSchema } from '../../contract/bodies/export-manifest.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { eachDaily } from '../daily.ts';
import { Superseded } from '../errors.ts';
import { PROJECTORS } from '../projections.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();
const formatIsOurs = retriedOnce(() => checkFormat(storage.ledger));

/** A part takes some 10 s, and each earlier part that it changes takes as long. An estimate, not measured on an account. */
const LONGEST_PART_MS = 300_000;

const QUIET_MS = 60_000;

interface Asked {
  readonly again?: boolean;
  readonly keep?: string;
  readonly unkeep?: string;
  readonly label?: string | null;
}

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  const asked: Asked = Object(event);
  const again = asked.again === true ? 'always' : ({ afterQuietMs: QUIET_MS } as const);
  const hasTime = () => invocation.getRemainingTimeInMillis() > LONGEST_PART_MS;
  try {
    await keepAsked(asked);
    await eachDaily(async (projection, daily) => {
      const outcome = await daily({ storage, hasTime, again, yieldToEventLoop: async () => {} });
      const isNews = outcome?.remade || (outcome?.kind !== 'present' && outcome?.kind !== 'no-data');
      if (outcome && isNews) logLine('info', 'daily files', { projection, ...outcome });
    });
  } catch (error) {
    // Another invocation does the same work, or the list has changed: the next one continues.
    if (!(error instanceof Superseded)) throw error;
    logLine('info', 'superseded', { reason: error.message });
  }
}

/** Asks each projection with daily files to keep those of this day. */
async function keepAsked({ keep, unkeep, label = null }: Asked): Promise<void> {
  const date = keep ?? unkeep;
  if (date === undefined) return;
  const kept = keep === undefined ? null : { label: keptLabelSchema.parse(label) };
  for (const projector of PROJECTORS) {
    const outcome = await projector.keep?.(storage, date, kept);
    if (outcome === undefined) continue;
    const { name: projection } = projector;
    logLine(outcome === 'done' ? 'info' : 'error', kept === null ? 'unkept' : 'kept', { projection, date, outcome });
  }
}
