/**
 * What the runbooks say for AWS, typed as it is written, with the AWS CLI, on a deployment's shape. In order: each test goes on from
 * where the one before it has ended, and ends with a public state that `verify` accepts.
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  GetResourcePolicyCommand,
  PutResourcePolicyCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../infra/deployment/permissions.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { ENVIRONMENT } from '../../storage/aws/names.ts';
import { createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import type { buildLambdas } from '../../tools/build/build-lambdas.ts';
import { patternOf, transcriptsOf } from '../docs/transcripts.ts';
import { succeeded } from '../scenario/answers.ts';
import { sendBatch } from '../scenario/ingest-steps.ts';
import { marketRecord, priceRecord } from '../scenario/records.ts';
import { openSession, type Session } from '../scenario/session.ts';
import { makeTemporaryFolder, temporaryFolder } from '../storage/temporary-folder.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { ENGINES_VARIABLE } from './engines/engine.ts';
import { type OperatorShell, openOperatorShell } from './operator-shell.ts';
import { REGION } from './shape/references.ts';
import { CREDENTIALS, enginesOf, SHAPE_ENGINES } from './shape/resources.ts';
import { type Shape, startShape } from './shape/shape.ts';

const ROOT = join(import.meta.dirname, '../..');
const MINUTE_MS = 2_000;
const POLL = { timeout: 60_000, interval: 200 };

for (const name of SHAPE_ENGINES) engineEndpoint(name);
const engines = enginesOf(JSON.parse(process.env[ENGINES_VARIABLE] ?? '{}'));
const runbook = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');

let shape: Shape;
let session: Session;
let home: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let shell: OperatorShell;
let hasFailed = false;
let deployments: string[];
let slug: string;

beforeAll(async () => {
  if (engines === null) return;
  shape = await startShape({ engines, minuteMs: MINUTE_MS });
  session = openSession(shape);
  home = await makeTemporaryFolder();
  shell = await openOperatorShell({
    folder: home.folder,
    functions: shape.functions,
    kmsUrl: shape.kmsUrl,
    engines,
    deployed(words) {
      deployments.push(words);
      for (const name of FUNCTION_NAMES) shape.functions.named(name).deploy(shape.bundleOf(name));
    },
  });
  slug = session.slug('kept');
});

beforeEach(() => {
  if (hasFailed) throw new Error('an earlier test has failed, from which this one would go on');
  deployments = [];
});

afterEach(({ task }) => {
  hasFailed ||= task.result?.state === 'fail';
});

afterAll(async () => {
  if (engines === null) return;
  if (hasFailed) console.log(shape.log.join('\n'));
  shell?.stop();
  await shape?.stop();
  await home?.remove();
});

const price = (day: string, amountMinor: number) => priceRecord(slug, 'EUR', { day, amountMinor, sourceValue: null });

async function priceShown(): Promise<number | null> {
  shape.forgetReads();
  const answer = await session.read(marketUrl(slug));
  if (answer.status !== 200) return null;
  const { metrics } = succeeded('getMarket', answer);
  return metrics.price?.kind === 'money' ? metrics.price.amountMinor : null;
}

/** Of a file of the log. */
async function textOf(name: string): Promise<string> {
  const { body } = await httpReader(shape.readBaseUrl)(`${LOG_ROOT}/${name}`);
  return Buffer.from(body).toString();
}

async function findings(): Promise<readonly unknown[]> {
  shape.forgetReads();
  const reader = httpReader(shape.readBaseUrl);
  const vkeys = [(await textOf('vkey')).trim()];
  const [found, foundInLog] = [await verify(reader, { settled: true }), await verifyLog(reader, { vkeys, seen: null })];
  return [...found.findings, ...foundInLog.findings];
}

/** The text of a section, without those that follow. */
function section(title: string): string {
  const [, text = ''] = new RegExp(`^(?:#+) ${title}\n([\\s\\S]*?)(?=^#)`, 'm').exec(runbook) ?? [];
  return text;
}

/** Types the transcripts of a section, and compares what they print. */
async function typeTranscripts(title: string): Promise<void> {
  const typed = transcriptsOf(section(title));
  expect(typed.length).toBeGreaterThan(0);
  for (const { command, shown, code } of typed) {
    const ended = await shell.type(command);
    const lines = ended.output.trim().split('\n');
    expect(lines, command).toEqual(
      shown.length === 0 ? [''] : shown.map((line) => expect.stringMatching(patternOf(line))),
    );
    expect(ended.code, command).toBe(code);
  }
}

const clientsOf = (endpoint: string) => ({ endpoint, region: REGION, credentials: CREDENTIALS });
const variableOf = (name: FunctionName, variable: string) =>
  shape.deployed.functions.get(name)?.variables[variable] ?? '';

test('a price is published', async () => {
  await sendBatch(session, { body: { records: [marketRecord(slug, 'EUR'), price('2026-01-05', 4_200)] } });
  await expect.poll(priceShown, POLL).toBe(4_200);
});

test('the bucket is emptied: everything is published again, the log with the same entries', async () => {
  const sizeOfLog = async () => Number((await textOf('checkpoint')).split('\n')[1]);
  const before = await sizeOfLog();
  const bucket = variableOf('publish', ENVIRONMENT.publicBucket);
  expect(await shell.type(`aws s3 rm s3://${bucket} --recursive --quiet`)).toEqual({ code: 0, output: '' });
  expect(await priceShown()).toBeNull();
  await typeTranscripts('The bucket is emptied');
  await expect.poll(priceShown, POLL).toBe(4_200);
  await expect.poll(findings, POLL).toEqual([]);
  expect(await sizeOfLog()).toBeGreaterThanOrEqual(before);
});

test('a deployment publishes wrong prices: after the commit before is deployed, they are right again', async () => {
  const wrong = await buildWrongPublisher();
  shape.functions.named('publish').deploy(wrong);
  await sendBatch(session, { body: { records: [price('2026-01-06', 4_300)] } });
  await expect.poll(priceShown, POLL).toBe(43_000);
  await typeTranscripts('A deployment is wrong');
  expect(deployments).toEqual(['cdk deploy --all --require-approval never --quiet']);
  await expect.poll(priceShown, POLL).toBe(4_300);
  await expect.poll(findings, POLL).toEqual([]);
});

/** A version whose renderer multiplies prices by ten. */
async function buildWrongPublisher(): Promise<string> {
  const folder = await temporaryFolder();
  const rooms = ['clients', 'contract', 'infra', 'lambdas', 'mapping', 'publisher', 'server', 'storage', 'tools'];
  for (const name of [...rooms, 'package.json', 'package-lock.json', 'tsconfig.json']) {
    await cp(join(ROOT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const renderer = join(folder, 'publisher/core/bodies/render.ts');
  const source = await readFile(renderer, 'utf8');
  const changed = source
    .replace(/RENDERER_VERSION = \d+/, 'RENDERER_VERSION = 999')
    .replace('return { amountMinor, confidence,', 'return { amountMinor: (amountMinor ?? 0) * 10, confidence,');
  expect(changed).toContain('* 10, confidence');
  await writeFile(renderer, changed);
  const tools = (await import(join(folder, 'tools/build/build-lambdas.ts'))) as { buildLambdas: typeof buildLambdas };
  await tools.buildLambdas(join(folder, 'built'), ['publish']);
  return join(folder, 'built/lambdas/publish/index.mjs');
}

test("the log's key is to be deleted: nothing new is published until it is enabled again", async () => {
  await shell.type('aws kms schedule-key-deletion --key-id KEY');
  shape.functions.named('publish').kill();
  const sending = sendBatch(session, { body: { records: [price('2026-01-07', 4_400)] } });
  await expect.poll(() => shape.log.filter((line) => line.includes('KMSInvalidState')), POLL).not.toEqual([]);
  expect(await priceShown()).toBe(4_300);
  await typeTranscripts("The log's key is to be deleted");
  await sending;
  await expect.poll(priceShown, POLL).toBe(4_400);
  await expect.poll(findings, POLL).toEqual([]);
});

test('for a restore, the functions are stopped and started, and the new table gets the settings of the old one', async () => {
  const steps = [...section('On AWS').matchAll(/^ *```sh\n([\s\S]*?)^ *```$/gm)].map(([, block = '']) => block);
  const [stop = '', restore = '', , , start = ''] = steps;
  const client = createDynamoDbClient(clientsOf(engines?.secretsManager ?? ''));
  const OLD = `ledger-${session.slug('old')}`;
  const key = { AttributeName: 'pk', AttributeType: 'S', KeyType: 'HASH' } as const;
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName: OLD,
      AttributeDefinitions: [key],
      KeySchema: [key],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [] });
  await client.send(new PutResourcePolicyCommand({ ResourceArn: TableDescription?.TableArn, Policy }));

  expect(await shell.type(stop)).toMatchObject({ code: 0 });
  const running = FUNCTION_NAMES.filter((name) => !shape.functions.named(name).isThrottled);
  expect(running).toEqual(['verify', 'repair', 'first-key']);
  expect(await priceShown()).toBe(4_400);
  const typed = await shell.type(restore.replaceAll(/\bOLD\b/g, OLD));
  expect(typed, typed.output).toMatchObject({ code: 0 });
  const TableName = 'tidemark-restored';
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  expect(Table).toMatchObject({
    DeletionProtectionEnabled: true,
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  });
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  expect(TimeToLiveDescription).toMatchObject({ TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' });
  const backups = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  expect(backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription).toMatchObject({
    PointInTimeRecoveryStatus: 'ENABLED',
  });
  const copied = await client.send(new GetResourcePolicyCommand({ ResourceArn: Table?.TableArn }));
  expect(copied.Policy).toBe(Policy);
  client.destroy();

  expect(await shell.type(start)).toMatchObject({ code: 0 });
  await sendBatch(session, { body: { records: [price('2026-01-08', 4_500)] } });
  await expect.poll(priceShown, POLL).toBe(4_500);
});
