/**
 * A deployment that has the shape of the one on AWS, on this machine: the bundles that would be deployed, in processes of
 * their own, wired to engines of DynamoDB, S3 and Secrets Manager as the stacks wire them. Their settings are read from
 * the templates: variables, memory, timeouts, what wakes them.
 *
 * The files beside this one and docs/aws-proofs.md list the differences from AWS. No IAM: the permissions are proven
 * from the templates alone.
 */
import { join } from 'node:path';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { FunctionName } from '../../../infra/deployment/permissions.ts';
import { builtBundles } from '../../bundles/built-bundles.ts';
import { openKms } from '../../bundles/kms-answers.ts';
import type { Deployment } from '../../scenario/session.ts';
import { serveBucketEvents } from './bucket-events.ts';
import { openCdn } from './cdn.ts';
import { type ControlPlane, serveControlPlane } from './control-plane.ts';
import { type EventBus, startEventBus } from './event-bus.ts';
import { type Functions, hostFunctions } from './functions.ts';
import { serveHttpApi } from './http-api.ts';
import { serveLocally } from './local-server.ts';
import { propertiesOf, REGION, type Templates } from './references.ts';
import { CREDENTIALS, type Engines, makeResources } from './resources.ts';
import { type Deployed, readDeployed, synthesise } from './stacks.ts';
import { type RunningMapping, startMapping } from './stream-mapping.ts';
import { openWriteHost } from './write-host.ts';

export interface ShapeOptions {
  readonly engines: Engines;
  /** How long a minute of EventBridge is: the sweeps need not be waited for. */
  readonly minuteMs: number;
}

export interface Shape extends Deployment {
  /** API Gateway's own endpoint. */
  readonly httpApiUrl: string;
  readonly deployed: Deployed;
  readonly functions: Functions;
  /** Where the log's key is. */
  readonly kmsUrl: string;
  /** The path of a function's code. */
  bundleOf(name: FunctionName): string;
  readonly bus: EventBus;
  /** By the stream, one for each function that it wakes. */
  readonly mappings: readonly RunningMapping[];
  /** Events that were given up. AWS would put them into the queue of failures, or count them for a schedule. */
  readonly failures: readonly unknown[];
  /** The logs of the functions and of the shape. */
  readonly log: readonly string[];
  /** Empties the edge cache, so that the next reader sees the store. */
  forgetReads(): void;
  /** Ends all its processes and servers. The data ends with the engines. */
  stop(): Promise<void>;
}

const DISTRIBUTION_ID = 'E1ABCDEF2GHIJK';

/** Resolves after the first scheduled invocations, so that readers find a generation. */
export async function startShape({ engines, minuteMs }: ShapeOptions): Promise<Shape> {
  const log: string[] = [];
  const failures: unknown[] = [];
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  const failed = (error: unknown) => log.push(`shape: ${String(error)}`);
  const started = <Part extends { stop(): unknown }>(part: Part): Part => {
    stops.push(() => part.stop());
    return part;
  };

  try {
    const bundles = join((await builtBundles()).folder, 'lambdas');
    const templates = await synthesise(bundles);
    const { physical, publicBucket, uploadsBucket, secrets } = await makeResources(templates, engines);

    const cdn = started(await openCdn({ endpoint: engines.s3, bucket: publicBucket, report: failed }));
    const readHost = new URL(cdn.url).host;
    const edgeNames = { 'edge/Distribution.Id': DISTRIBUTION_ID, 'edge/Distribution.DomainName': readHost };
    const writeHost = openWriteHost(templates, { ...physical, ...edgeNames }, secrets);
    const invokeWriteApi = (event: object) => functions.invoke('write-api', event);
    const httpApi = started(await serveLocally((...http) => serveHttpApi(invokeWriteApi, ...http), failed));
    const writes = started(
      await serveLocally(async (...http) => {
        const added = writeHost.receive(...http);
        if (added !== null) await serveHttpApi(invokeWriteApi, ...http, added);
      }, failed),
    );
    const calls: ControlPlane = {
      distributionId: DISTRIBUTION_ID,
      invalidate: (items) => cdn.forget(items),
    };
    const controlPlane = started(await serveLocally((...http) => serveControlPlane(calls, ...http), failed));
    const kms = started(await serveLocally(openKms(), failed));

    const writeName = new URL(writes.url).host;
    const deployed = withoutTls(
      readDeployed(templates, {
        ...physical,
        ...edgeNames,
        'api/WriteEndpointDistribution.DomainName': writeName,
        'identity/Users.Ref': 'us-east-1_AbCdEf',
        'identity/Client.Ref': '5f3example',
      }),
      [readHost, writeName],
    );
    const controlPlaneUrl = controlPlane.url;
    const say = (line: string) => log.push(line);
    const kmsUrl = kms.url;
    const functions = started(hostFunctions({ deployed, bundles, engines, controlPlaneUrl, kmsUrl, log: say }));
    const { invoke } = functions;
    const { apiKey } = (await invoke('first-key', {})) as { apiKey: string };

    const givenUp = (name: FunctionName, event: unknown) => failures.push({ name, event });
    const bus = started(startEventBus({ deployed, minuteMs, invoke, givenUp }));
    const isTelling = (bucket: string) => bucket === uploadsBucket && tellsEventBridge(templates);
    const eventsPort = Number(new URL(engines.s3Events).port);
    started(await serveLocally((...http) => serveBucketEvents(bus, isTelling, ...http), failed, eventsPort));
    const client = new DynamoDBStreamsClient({ endpoint: engines.dynamoDb, region: REGION, credentials: CREDENTIALS });
    stops.push(() => client.destroy());
    const mappings = deployed.mappings.map((mapping) => {
      const ring = (event: unknown) => invoke(mapping.functionName, event);
      return started(startMapping({ client, mapping, invoke: ring, givenUp, failed }));
    });
    await bus.firstTurns();
    return {
      readBaseUrl: cdn.url,
      writeBaseUrl: writes.url,
      httpApiUrl: httpApi.url,
      operatorKey: apiKey,
      deployed,
      functions,
      kmsUrl,
      bundleOf: (name) => join(bundles, name, 'index.mjs'),
      bus,
      mappings,
      failures,
      log,
      forgetReads: () => cdn.forget(['/*']),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function tellsEventBridge(templates: Templates): boolean {
  const { NotificationConfiguration } = propertiesOf(templates, 'data', 'Uploads');
  return NotificationConfiguration?.EventBridgeConfiguration?.EventBridgeEnabled === true;
}

/** The only change to the stacks' settings: this machine has no certificate. */
function withoutTls(deployed: Deployed, hosts: readonly string[]): Deployed {
  const functions = [...deployed.functions].map(([name, settings]) => {
    const variables = Object.entries(settings.variables).map(([variable, value]) => {
      const host = hosts.find((each) => value === `https://${each}`);
      return [variable, host === undefined ? value : `http://${host}`];
    });
    return [name, { ...settings, variables: Object.fromEntries(variables) }] as const;
  });
  return { ...deployed, functions: new Map(functions) };
}
