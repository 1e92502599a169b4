/** All functions of a deployment, each from its bundle, with the variables of its stack and those that Lambda sets. */
import { join } from 'node:path';
import type { FunctionName } from '../../../infra/deployment/permissions.ts';
import { type HostedFunction, hostFunction } from './hosted-function.ts';
import { REGION } from './references.ts';
import { CREDENTIALS, type Engines } from './resources.ts';
import type { Deployed } from './stacks.ts';

export interface Functions {
  named(name: FunctionName): HostedFunction;
  invoke(name: FunctionName, event: unknown): Promise<unknown>;
  /** Ends every environment permanently. */
  stop(): void;
}

export interface FunctionsOptions {
  readonly deployed: Deployed;
  /** The folder with a folder for each bundle. */
  readonly bundles: string;
  readonly engines: Engines;
  /** Where CloudFront is called. */
  readonly controlPlaneUrl: string;
  /** Where the log's key is. */
  readonly kmsUrl: string;
  readonly log: (line: string) => void;
}

export function hostFunctions({
  deployed,
  bundles,
  engines,
  controlPlaneUrl,
  kmsUrl,
  log,
}: FunctionsOptions): Functions {
  const lambdaVariables = {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: engines.dynamoDb,
    AWS_ENDPOINT_URL_S3: engines.s3,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: engines.secretsManager,
    AWS_ENDPOINT_URL_CLOUDFRONT: controlPlaneUrl,
    AWS_ENDPOINT_URL_KMS: kmsUrl,
  };
  const functions = new Map(
    [...deployed.functions].map(([name, settings]) => {
      const bundle = join(bundles, name, 'index.mjs');
      const options = { name, bundle, settings, lambdaVariables, log: (line: string) => log(`${name}: ${line}`) };
      return [name, hostFunction(options)] as const;
    }),
  );
  const named = (name: FunctionName) => functions.get(name) as HostedFunction;
  return {
    named,
    invoke: (name, event) => named(name).invoke(event),
    stop() {
      for (const each of functions.values()) each.stop();
    },
  };
}
