/** Each Lambda bundle in a fresh process, invoked with what AWS invokes it with, on engines that hold nothing yet. */
import { join } from 'node:path';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FunctionName } from '../../infra/deployment/permissions.ts';
import { ENVIRONMENT } from '../../storage/aws/names.ts';
import { buildLambdas } from '../../tools/build/build-lambdas.ts';
import { cpuNote, invokeInProcess } from '../bundles/bundle-process.ts';
import { openKms } from '../bundles/kms-answers.ts';
import {
  DIRECT_HTTP_EVENT,
  HTTP_EVENT,
  SCHEDULE_EVENT,
  SECRET_TEXT,
  STREAM_EVENT,
  UPLOADED_EVENT,
} from '../bundles/recorded-events.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';
import { type EngineTable, engineConfig, openEngineTable } from './dynamodb-table.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { makeBucket } from './s3-bucket.ts';
import { type LocalServer, serveLocally } from './shape/local-server.ts';

const [dynamoDb, s3, others] = ['dynoxide', 'versitygw', 'moto'].map(engineEndpoint) as [string, string, string];

let folder: string;
let removeFolder: () => Promise<void>;
let table: EngineTable;
let kms: LocalServer;
let environment: Record<string, string>;

beforeAll(async () => {
  ({ folder, remove: removeFolder } = await makeTemporaryFolder());
  await buildLambdas(folder);
  table = await openEngineTable(dynamoDb);
  kms = await serveLocally(openKms(), (error) => console.error(error));
  const [{ bucket: publicBucket }, { bucket: uploadsBucket }] = [await makeBucket(s3), await makeBucket(s3)];
  const secrets = new SecretsManagerClient(engineConfig(others));
  const secret = await secrets.send(new CreateSecretCommand({ Name: table.tableName, SecretString: SECRET_TEXT }));
  secrets.destroy();
  environment = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'engine',
    AWS_SECRET_ACCESS_KEY: 'engine-secret',
    AWS_SESSION_TOKEN: '',
    AWS_ENDPOINT_URL: others,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb,
    AWS_ENDPOINT_URL_S3: s3,
    AWS_ENDPOINT_URL_KMS: kms.url,
    [ENVIRONMENT.tableName]: table.tableName,
    [ENVIRONMENT.publicBucket]: publicBucket,
    [ENVIRONMENT.uploadsBucket]: uploadsBucket,
    [ENVIRONMENT.secretArn]: secret.ARN as string,
    [ENVIRONMENT.originSecretArns]: secret.ARN as string,
    [ENVIRONMENT.issuer]: 'https://issuer.tidemark.test',
    [ENVIRONMENT.audience]: 'tidemark',
    [ENVIRONMENT.waitlistEmail]: 'keys@tidemark.test',
    [ENVIRONMENT.distributionId]: 'E1ABCDEF2GHIJK',
    [ENVIRONMENT.readBaseUrl]: 'http://127.0.0.1:1',
    [ENVIRONMENT.writeBaseUrl]: 'https://write.tidemark.test',
    [ENVIRONMENT.verifyEveryHours]: '1',
    [ENVIRONMENT.logOrigin]: 'data.tidemark.test/log',
    [ENVIRONMENT.logKeyArns]: 'arn:aws:kms:us-east-1:123456789012:key/log-1',
  };
});

afterAll(async () => {
  kms?.stop();
  await table?.close();
  await removeFolder?.();
});

const NO_FAILURES = { batchItemFailures: [] };

/** In this order, because each builds on the one before it. */
test.for<readonly [FunctionName, string, unknown, unknown]>([
  ['first-key', 'an administrator', {}, { apiKey: expect.stringMatching(/^tdm_live_/) }],
  ['write-api', 'a request without a credential', HTTP_EVENT, expect.objectContaining({ statusCode: 401 })],
  ['write-api', 'a request past the write host', DIRECT_HTTP_EVENT, expect.objectContaining({ statusCode: 403 })],
  ['worker', 'a ring of the stream', STREAM_EVENT, NO_FAILURES],
  ['upload-arrived', 'an upload that nobody has announced', UPLOADED_EVENT, undefined],
  ['publish', 'a ring of the stream, with the first generation', STREAM_EVENT, NO_FAILURES],
  ['publish', 'a schedule, with nothing to do', SCHEDULE_EVENT, NO_FAILURES],
  ['sources', 'a schedule', SCHEDULE_EVENT, undefined],
  ['collect-garbage', 'a schedule', SCHEDULE_EVENT, undefined],
  ['export', 'a schedule', SCHEDULE_EVENT, undefined],
  ['repair', 'an administrator, after the first generation', { restore: true }, { repaired: 0, next: null }],
  // No server runs here that it could read. The scenario has one.
  ['verify', 'a schedule, with an error', SCHEDULE_EVENT, 'UpstreamUnavailable'],
])('%s answers %s', async ([name, , event, expected], { annotate }) => {
  const invoked = await invokeInProcess(join(folder, 'lambdas', name, 'index.mjs'), event, environment);
  if (typeof expected === 'string') {
    expect(invoked.fault).toMatchObject({ when: 'call', name: expected });
  } else {
    expect(invoked.fault).toBeUndefined();
    expect(invoked.result).toEqual(expected);
  }
  await annotate(cpuNote(name, invoked));
});
