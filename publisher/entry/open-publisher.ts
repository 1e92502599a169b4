/** Opens the publisher's dependencies from the environment: storage, caches and static bodies. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { openApiDocument } from '../../contract/openapi/openapi.ts';
import { waitlistBody } from '../../contract/values/waitlist.ts';
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { SITE_ASSET } from '../../storage/aws/names.ts';
import type { LogSettings, PublisherDependencies } from '../dependencies.ts';
import type { Purge } from '../notify/purge.ts';
import { type Site, siteEncoding, withBasePath, withHosts, withOperator } from '../site.ts';
import { staticBodies } from '../static-bodies.ts';
import { openStorage } from './open-storage.ts';

/**
 * Opens them without a request.
 *
 * @throws TypeError if the environment is incomplete
 */
export function openPublisher(): PublisherDependencies {
  const environment = readLambdaEnvironment(process.env, {
    required: ['waitlistEmail', 'distributionId', 'readBaseUrl', 'writeBaseUrl'],
    optional: ['operatorName', 'operatorContact', 'dataLicence'],
  });
  const { waitlistEmail, distributionId, readBaseUrl, writeBaseUrl } = environment;
  const { operatorName: name, operatorContact: contact, dataLicence: licence } = environment;
  const openapi = openApiDocument({ readServer: readBaseUrl, writeServer: writeBaseUrl });
  return {
    ...openStorage(),
    readBaseUrl,
    staticBodies: staticBodies({ waitlist: waitlistBody({ email: waitlistEmail }), openapi }),
    site: withOperator(withHosts(withBasePath(openSite(), readBaseUrl), readBaseUrl, writeBaseUrl), {
      ...(name !== undefined && { name }),
      ...(contact !== undefined && { contact }),
      ...(licence !== undefined && { licence }),
    }),
    caches: purgeOf(distributionId),
  };
}

/**
 * Opens the signers of the log. The result asks KMS for the public keys, so call it once; the first call loads the KMS
 * client. Null: the deployment has no log.
 *
 * @throws TypeError if the environment is incomplete
 */
export function logOpener({ projections }: PublisherDependencies): () => Promise<LogSettings | null> {
  if (projections?.has('log') !== true) return async () => null;
  const { logOrigin: origin, logKeyArns } = readLambdaEnvironment(process.env, {
    required: ['logOrigin', 'logKeyArns'],
  });
  return async () => {
    const { openKmsSigners } = await import('./kms-signer.ts');
    return { origin, signers: await openKmsSigners(logKeyArns.split(','), origin) };
  };
}

/** Only the digests are read at start. The files lie beside the code (tools/build/build-lambdas.ts). */
function openSite(): Site {
  const { manifest, folder } = SITE_ASSET;
  const listed = JSON.parse(readFileSync(new URL(manifest, import.meta.url), 'utf8')) as Omit<Site, 'read'>;
  return { ...listed, read: (file) => readFile(new URL(`${folder}/${file}`, import.meta.url), siteEncoding(file)) };
}

/** Purges are rare, so their client is loaded for the first purge, not for every generation. */
function purgeOf(distributionId: string): Purge {
  return {
    async purge(targets) {
      const { createCloudFrontClient, openCloudFrontPurge } = await import('../notify/purge-cloudfront.ts');
      await openCloudFrontPurge({ client: createCloudFrontClient(), distributionId }).purge(targets);
    },
  };
}
