/** Opens the publisher's dependencies from the environment: storage, caches and static bodies. */
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { openApiDocument } from '../../contract/openapi.ts';
import { waitlistBody } from '../../contract/waitlist.ts';
import type { PublisherDependencies } from '../dependencies.ts';
import { staticBodies } from '../plan/static-bodies.ts';
import type { Purge } from '../tell/purge.ts';
import { openStorage } from './open-storage.ts';

/**
 * Sends no request.
 *
 * @throws TypeError if the environment is not complete
 */
export function openPublisher(): PublisherDependencies {
  const { waitlistEmail, distributionId, readBaseUrl, writeBaseUrl } = readLambdaEnvironment(process.env, {
    required: ['waitlistEmail', 'distributionId', 'readBaseUrl', 'writeBaseUrl'],
  });
  const openapi = openApiDocument({ readServer: readBaseUrl, writeServer: writeBaseUrl });
  return {
    ...openStorage(),
    staticBodies: staticBodies({ waitlist: waitlistBody({ email: waitlistEmail }), openapi }),
    caches: purgeOf(distributionId),
  };
}

/** Purges are rare, so their client is loaded for the first purge, not for every generation. */
function purgeOf(distributionId: string): Purge {
  return {
    async purge(targets) {
      const { createCloudFrontClient, openCloudFrontPurge } = await import('../tell/purge-cloudfront.ts');
      await openCloudFrontPurge({ client: createCloudFrontClient(), distributionId }).purge(targets);
    },
  };
}
