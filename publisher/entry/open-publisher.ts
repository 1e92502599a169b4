/** What the publisher's functions are opened with: storage, caches and static bodies, from the environment. */
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { openApiDocument } from '../../contract/openapi.ts';
import { waitlistBody } from '../../contract/waitlist.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import type { Purge } from '../tell/purge.ts';
import { staticBodies } from '../plan/static-bodies.ts';
import { openStorage } from './open-storage.ts';

/**
 * Markets that one generation takes at most. On S3, with 16 requests of 30 ms under way at once and two puts for each market,
 * these take 20 of the 300 seconds of the function `publish`, and less than the minute from which on a publication counts as
 * slow; long histories take several times as long, and so do 10,000 pages of a long list before them. (docs/benchmarks.md:
 * 1,344 markets/s and 6 KB of memory each, beside a disk.)
 */
const MAX_MARKED_MARKETS = 5_000;

/**
 * Opens all that a publication needs; sends nothing.
 *
 * @throws TypeError when the environment is not complete.
 */
export function openPublisher(): Required<PublisherDependencies> {
  const { waitlistEmail, distributionId, readBaseUrl, writeBaseUrl } = readLambdaEnvironment(process.env, {
    required: ['waitlistEmail', 'distributionId', 'readBaseUrl', 'writeBaseUrl'],
  });
  const openapi = openApiDocument({ readServer: readBaseUrl, writeServer: writeBaseUrl });
  return {
    ...openStorage(),
    staticBodies: staticBodies({ waitlist: waitlistBody({ email: waitlistEmail }), openapi }),
    caches: purgeOf(distributionId),
    maxMarkedMarkets: MAX_MARKED_MARKETS,
  };
}

/** Purges are for emergencies: what they take is loaded for the first one, and not for every publication. */
function purgeOf(distributionId: string): Purge {
  return {
    async purge(targets) {
      const { createCloudFrontClient, openCloudFrontPurge } = await import('../tell/purge-cloudfront.ts');
      await openCloudFrontPurge({ client: createCloudFrontClient(), distributionId }).purge(targets);
    },
  };
}
