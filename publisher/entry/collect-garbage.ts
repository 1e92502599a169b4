/**
 * Garbage collection as a Lambda function, on a schedule. It is the only function with permission to delete public objects:
 * the publisher can delete only bundles. It can also put them, for a body that it has removed a moment too late. Invoked by
 * hand with `{ "dryRun": true }`, it removes nothing.
 */
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';
import { collectGarbage } from '../collect-garbage.ts';
import { deletingInBoth } from '../second-region/delete-in-both.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();
const { secondRegion: region, secondBucket: bucket } = readLambdaEnvironment(process.env, {
  required: [],
  optional: ['secondRegion', 'secondBucket'],
});
const objects =
  region === undefined || bucket === undefined
    ? storage.objects
    : deletingInBoth(storage.objects, openS3Objects({ client: createS3Client({ region }), bucket }));
const formatIsOurs = retriedOnce(() => checkFormat(storage.ledger));

/**
 * The time of one batch of 1,000 objects, with room for retries. If all of them are removed, that is 2,000 requests (3,000
 * for bodies of markets), 16 at once: 4 s at 30 ms each. These numbers are estimated, not measured on an account:
 *
 * - Removing: some 250 objects a second, so 200,000 in the fifteen minutes of a run. The busiest deployment, with a
 *   generation every 6 s, makes 75,000 a day: 13 s of an hourly run.
 * - Walking: 1,000 objects are a list request (100 ms), some 300 queries for the pages of histories, 16 at once (20 ms
 *   each), and the CPU time for their answers (80 ms): 1,800 a second, so 140 s for the 250,000 of a run.
 */
const LONGEST_BATCH_MS = 60_000;

export async function handler(event: unknown, invocation: LambdaInvocation): Promise<void> {
  await formatIsOurs();
  const dryRun = typeof event === 'object' && event !== null && 'dryRun' in event && event.dryRun === true;
  const { removed, kept, prunedRecords, unknown, endedEarly } = await collectGarbage(
    { ...storage, objects },
    {
      dryRun,
      // No limit, because no caller waits for the function: only the end of its time ends it.
      maxRemovals: Number.POSITIVE_INFINITY,
      hasTime: () => invocation.getRemainingTimeInMillis() > LONGEST_BATCH_MS,
    },
  );
  for (const key of unknown) logLine('error', 'an object that no rule knows', { key });
  const counts = { removed: removed.length, kept, prunedRecords, unknown: unknown.length };
  logLine('info', 'collected', { dryRun, ...counts, endedEarly });
}
