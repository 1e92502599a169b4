/** The Lambda functions as they are deployed: their size and content, and each starts and answers. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALL_FUNCTION_NAMES, type FunctionName } from '../../infra/deployment/permissions.ts';
import { ENVIRONMENT, PUBLISHER_METRICS, TABLE_PARTITION_KEY, TABLE_SORT_KEY } from '../../storage/aws/names.ts';
import type { ItemKey } from '../../storage/ports/ledger.ts';
import { workKey } from '../../storage/records/batches.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { type Bundle, buildLambdas } from '../../tools/build/build-lambdas.ts';
import { siteFiles } from '../../tools/build/build-site.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type StubItem, startAwsStub } from './aws-stub.ts';
import { builtBundles } from './built-bundles.ts';
import { type InvokedInProcess, invokeInProcess } from './bundle-process.ts';
import { DIRECT_HTTP_EVENT, HTTP_EVENT, SCHEDULE_EVENT, STREAM_EVENT, UPLOADED_EVENT } from './recorded-events.ts';

const KILOBYTE = 1024;

/** The size of the code that is loaded at the start, which a cold start reads and compiles. */
const START_BUDGETS: { readonly [Name in FunctionName]: number } = {
  // The parts of the counts in reports, and their examples, are two kilobytes.
  'write-api': 507 * KILOBYTE,
  worker: 442 * KILOBYTE,
  'upload-arrived': 400 * KILOBYTE,
  // The search for secrets in packed answers is a kilobyte, and the advice on words beside numbers another.
  sources: 491 * KILOBYTE,
  'first-key': 250 * KILOBYTE,
  publish: 768 * KILOBYTE,
  // The checks of an index of parts, and of its generation, are a kilobyte.
  verify: 200 * KILOBYTE,
  'collect-garbage': 553 * KILOBYTE,
  export: 615 * KILOBYTE,
  repair: 500 * KILOBYTE,
  copy: 560 * KILOBYTE,
};

/** Never in a bundle. */
const BANNED: readonly [string, RegExp][] = [
  ['a web framework', /node_modules\/(fastify|express|koa|hono|@middy|@hono|@fastify)\//],
  ['another fetch than that of Node', /node_modules\/(undici|node-fetch|cross-fetch|whatwg-[\w-]+|axios|got)\//],
  ['version 2 of the SDK', /node_modules\/aws-sdk\//],
  ['credentials from elsewhere than the environment', /node_modules\/@(aws-sdk|smithy)\/credential-provider-(?!env)/],
  ['unused languages of zod', /node_modules\/zod\/v4\/locales\/(?!en\.js)/],
  ['tools', /node_modules\/(fast-check|vitest|esbuild|aws-cdk-lib|constructs|aws-sdk-client-mock|typescript)\//],
  ['the other ledger and object store', /^storage\/(sqlite|directory)\//],
  ['the embedded server', /^(server|tools|mapping\/sample|test)\//],
];

/** Which services each talks to, and so which clients are in it. */
const CLIENTS: { readonly [Name in FunctionName]: readonly string[] } = {
  'write-api': ['dynamodb', 'secrets-manager'],
  worker: ['dynamodb', 's3'],
  'upload-arrived': ['dynamodb', 's3'],
  sources: ['dynamodb', 's3'],
  'first-key': ['dynamodb'],
  publish: ['cloudfront', 'dynamodb', 'kms', 's3'],
  verify: [],
  'collect-garbage': ['dynamodb', 's3'],
  export: ['dynamodb', 's3'],
  repair: ['dynamodb', 's3'],
  copy: ['dynamodb', 's3'],
};

/** Code that only some functions need: requests and rows, the OpenAPI document, rendering. */
const VALIDATING: readonly FunctionName[] = [
  ...(['write-api', 'worker', 'sources', 'publish', 'verify', 'repair'] as const),
  // A label of an operator.
  'export',
  // The checks of projections, in a part that a sweep never loads.
  'collect-garbage',
  'copy',
];

/** All bundles, on a machine that does other things too. */
const BUILDING_MS = 120_000;

let folder: string;
let bundles: ReadonlyMap<FunctionName, Bundle>;

beforeAll(async () => {
  const built = await builtBundles();
  folder = built.folder;
  bundles = new Map(built.bundles.map((bundle) => [bundle.name, bundle]));
}, BUILDING_MS);

function bundleOf(name: FunctionName): Bundle {
  return bundles.get(name) as Bundle;
}

describe.each(ALL_FUNCTION_NAMES)('%s', (name) => {
  test('keeps to its budget', () => {
    expect(bundleOf(name).startBytes).toBeLessThanOrEqual(START_BUDGETS[name]);
  });

  test.each(BANNED)('holds no part of %s', (_, pattern) => {
    expect(bundleOf(name).inputs.filter((input) => pattern.test(input))).toEqual([]);
  });

  test('holds the schema library where something is validated, and nowhere else', () => {
    const has = bundleOf(name).inputs.some((input) => input.includes('node_modules/zod/'));
    expect(has).toBe(VALIDATING.includes(name));
  });

  test('describes schemas in JSON Schema where the OpenAPI document is made, and nowhere else', () => {
    const has = bundleOf(name).inputs.some((input) => input.endsWith('zod/v4/core/json-schema-processors.js'));
    expect(has).toBe(name === 'publish');
  });

  test('holds the clients of the services that it talks to, and no other', () => {
    const found = bundleOf(name).inputs.map((input) => /node_modules\/@aws-sdk\/client-([\w-]+)/.exec(input)?.[1]);
    expect([...new Set(found.filter((client) => client !== undefined))].sort()).toEqual(CLIENTS[name]);
  });

  test('is a folder of modules, and nothing else but the pages that the publisher publishes', () => {
    const files = globSync('**/*.*', { cwd: join(folder, 'lambdas', name) });
    expect(files).toContain('index.mjs');
    const site = name === 'publish' ? ['site.json', ...siteFiles().map((file) => `site/${file}`)] : [];
    expect(files.filter((file) => !file.endsWith('.mjs')).sort()).toEqual(site.sort());
  });
});

test('a function and the pages beside it are built of the same bytes, wherever', async () => {
  const again = await temporaryFolder();
  await buildLambdas(again, ['publish']);
  expect(digestsOf(join(again, 'lambdas/publish'))).toEqual(digestsOf(join(folder, 'lambdas/publish')));
});

function digestsOf(assets: string): readonly string[] {
  const files = globSync('**/*.*', { cwd: assets }).sort();
  return files.map(
    (file) =>
      `${file} ${createHash('sha256')
        .update(readFileSync(join(assets, file)))
        .digest('hex')}`,
  );
}

const VARIABLES = {
  [ENVIRONMENT.tableName]: 'tidemark',
  [ENVIRONMENT.publicBucket]: 'tidemark-public',
  [ENVIRONMENT.uploadsBucket]: 'tidemark-uploads',
  [ENVIRONMENT.secretArn]: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:tidemark-AbCdEf',
  [ENVIRONMENT.originSecretArns]: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:tidemark-origin-AbCdEf',
  [ENVIRONMENT.issuer]: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEf',
  [ENVIRONMENT.audience]: '5f3example',
  [ENVIRONMENT.waitlistEmail]: 'keys@tidemark.test',
  [ENVIRONMENT.distributionId]: 'E1ABCDEF2GHIJK',
  [ENVIRONMENT.writeBaseUrl]: 'https://write.tidemark.test',
  [ENVIRONMENT.verifyEveryHours]: '1',
  [ENVIRONMENT.logOrigin]: 'data.tidemark.test',
  [ENVIRONMENT.secondRegion]: 'eu-west-1',
  [ENVIRONMENT.secondBucket]: 'second-objects',
  [ENVIRONMENT.logKeyArns]: 'arn:aws:kms:eu-west-1:123456789012:key/0a1b2c3d',
};

const UNREACHABLE = 'http://127.0.0.1:1';

/** Without an URL of AWS there is one for this invocation alone, in which nothing is. */
async function invoke(
  name: FunctionName,
  event: unknown,
  variables: Record<string, string> = { ...VARIABLES, [ENVIRONMENT.readBaseUrl]: UNREACHABLE },
  awsUrl?: string,
): Promise<InvokedInProcess> {
  const bundle = join(folder, 'lambdas', name, 'index.mjs');
  const empty = await startAwsStub();
  const invoked = await invokeInProcess(bundle, event, { AWS_ENDPOINT_URL: awsUrl ?? empty.url, ...variables });
  empty.close();
  return invoked;
}

const NO_FAILURES = { batchItemFailures: [] };

describe('in a fresh process', () => {
  test.each<[FunctionName, string, unknown, unknown]>([
    ['write-api', 'a request without a credential', HTTP_EVENT, expect.objectContaining({ statusCode: 401 })],
    ['write-api', 'a request past the write host', DIRECT_HTTP_EVENT, expect.objectContaining({ statusCode: 403 })],
    ['worker', 'a ring of the stream', STREAM_EVENT, NO_FAILURES],
    ['upload-arrived', 'an upload that it does not know', UPLOADED_EVENT, undefined],
    ['upload-arrived', 'an object that is no upload', { detail: { object: { key: 'uploads/readme' } } }, undefined],
    ['sources', 'a schedule', SCHEDULE_EVENT, undefined],
    ['collect-garbage', 'a schedule', SCHEDULE_EVENT, undefined],
    ['export', 'a schedule', SCHEDULE_EVENT, undefined],
    ['copy', 'a schedule', SCHEDULE_EVENT, undefined],
    ['repair', 'an administrator after a restore', { restore: true }, { repaired: 0, next: null }],
    ['repair', 'an administrator for one market', { market: 'gold-usd' }, { outcome: 'unknown' }],
    ['first-key', 'an administrator', {}, { apiKey: expect.stringMatching(/^tdm_live_/) }],
  ])('%s answers %s', async (name, _, event, expected) => {
    const { result, fault } = await invoke(name, event);
    expect(fault).toBeUndefined();
    expect(result).toEqual(expected);
  });

  test.each<[FunctionName, unknown]>([
    ['upload-arrived', { Messages: [] }],
    ['repair', {}],
    ['verify', SCHEDULE_EVENT],
    ['verify', { share: { index: 1, of: 1 } }],
  ])('%s fails for an impossible event', async (name, event) => {
    expect((await invoke(name, event)).fault?.when).toBe('call');
  });

  test.each(ALL_FUNCTION_NAMES)(
    '%s does not start without its environment, and names the missing variable',
    async (name) => {
      const path = join(folder, 'lambdas', name, 'index.mjs');
      await expect(import(pathToFileURL(path).href)).rejects.toThrow(/TIDEMARK_\w+ is missing/);
    },
  );
});

/** The lines of a log from which CloudWatch takes the publisher's metrics, by its embedded metric format. */
function outcomesIn(log: string) {
  return log.split('\n').flatMap((text) => {
    const line = JSON.parse(text);
    return line._aws === undefined ? [] : [line];
  });
}

function stubItem({ partition, sort }: ItemKey<unknown>, value: string): StubItem {
  const key = { [TABLE_PARTITION_KEY]: { S: partition }, [TABLE_SORT_KEY]: { S: sort } };
  return { ...key, revision: { N: '1' }, attemptId: { S: 'somebody' }, value: { S: value } };
}

describe('a worker', () => {
  test('fails for its schedule if work has failed, so that an alarm reports it, and logs the work', async () => {
    const work = { kind: 'of a later version', lane: 'new-1', lease: null };
    const queued = stubItem(workKey('new-1'), JSON.stringify(work));
    const stuck = await startAwsStub({
      items: [stubItem(FORMAT_KEY, JSON.stringify({ format: LEDGER_FORMAT })), queued],
    });
    const { fault, log } = await invoke('worker', SCHEDULE_EVENT, undefined, stuck.url);
    stuck.close();
    expect(fault).toMatchObject({ when: 'call', message: expect.stringContaining('1 items') });
    expect(log.split('\n').map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ level: 'error', work: 'new-1' }),
    );
  });
});

describe('publish', () => {
  const ofAudit = (eventName: string, partition: string, sort: string) => ({
    ...STREAM_EVENT.Records[0],
    eventName,
    dynamodb: { ...STREAM_EVENT.Records[0]?.dynamodb, Keys: { pk: { S: partition }, sk: { S: sort } } },
  });

  test('reports audit records that were changed, and publishes as ever', async () => {
    const Records = [
      ofAudit('MODIFY', 'audit/day/2026-11-20', 'aud_1'),
      ofAudit('REMOVE', 'audit/actor/user:alice', 'aud_2'),
      ...STREAM_EVENT.Records,
    ];
    const { result, log } = await invoke('publish', { Records });
    expect(result).toEqual(NO_FAILURES);
    expect(outcomesIn(log)).toContainEqual(
      expect.objectContaining({
        level: 'error',
        records: 'audit/day/2026-11-20 aud_1, audit/actor/user:alice aud_2',
        [PUBLISHER_METRICS.auditChanged]: 2,
        [PUBLISHER_METRICS.dimension]: 'tidemark-under-test',
      }),
    );
    expect(outcomesIn(log)).toContainEqual(expect.objectContaining({ what: 'published' }));
  });

  test('reports no new audit record, other record, or record without keys as that', async () => {
    const Records = [ofAudit('INSERT', 'audit/day/2026-11-20', 'aud_1'), ...STREAM_EVENT.Records, {}];
    const { result, log } = await invoke('publish', { Records });
    expect(result).toEqual(NO_FAILURES);
    expect(log).not.toContain(PUBLISHER_METRICS.auditChanged);
  });
});

describe('publish is counted', () => {
  test('when it has published, and when there was nothing to do, under the name that Lambda gave the function', async () => {
    const kept = await startAwsStub({ keepsPuts: true });
    const logs = [];
    for (let times = 0; times < 2; times++) {
      logs.push((await invoke('publish', SCHEDULE_EVENT, undefined, kept.url)).log);
    }
    kept.close();
    // Each start asks for the public key; only the generation is signed.
    expect(kept.requests.filter((request) => request.startsWith('TrentService.'))).toEqual([
      ...['TrentService.GetPublicKey', 'TrentService.Sign', 'TrentService.GetPublicKey'],
    ]);
    // The pages lie beside its code, and are put once.
    const pages = kept.requests.filter((request) =>
      /^PUT .*\/public\/(?!api\/|errors\/|feeds\/|problems\.json)/.test(request),
    );
    expect(pages.map((request) => request.replace(/^.*?\/public\//, '')).sort()).toEqual(siteFiles());
    const name = { [PUBLISHER_METRICS.dimension]: 'tidemark-under-test' };
    expect(logs.flatMap(outcomesIn)).toEqual([
      expect.objectContaining({ what: 'published', ...name }),
      expect.objectContaining({ what: 'unchanged', ...name }),
    ]);
  });

  test('when a rival was quicker, each of the four times that it tries', async () => {
    const taken = await startAwsStub({
      rival: stubItem(HEAD_KEY, 'null'),
      items: [stubItem(FORMAT_KEY, JSON.stringify({ format: LEDGER_FORMAT }))],
    });
    const { result, log } = await invoke('publish', SCHEDULE_EVENT, undefined, taken.url);
    taken.close();
    expect(result).toEqual(NO_FAILURES);
    expect(outcomesIn(log)).toEqual(Array(4).fill(expect.objectContaining({ what: 'superseded' })));
  });
});

describe('a ledger of a later format', () => {
  const item = stubItem(FORMAT_KEY, JSON.stringify({ format: LEDGER_FORMAT + 1 }));
  const cases: readonly [FunctionName, unknown][] = [
    ['worker', SCHEDULE_EVENT],
    ['publish', SCHEDULE_EVENT],
    ['collect-garbage', SCHEDULE_EVENT],
    ['export', SCHEDULE_EVENT],
    ['copy', SCHEDULE_EVENT],
    ['upload-arrived', UPLOADED_EVENT],
    ['sources', SCHEDULE_EVENT],
    ['repair', { restore: true }],
  ];

  test.each(cases)('%s refuses, and changes nothing: %j', async (name, event) => {
    const aws = await startAwsStub({ items: [item] });
    const { fault } = await invoke(name, event, undefined, aws.url);
    aws.close();
    expect(JSON.stringify(fault)).toContain(`format ${LEDGER_FORMAT + 1}`);
    expect(new Set(aws.requests)).toEqual(new Set(['DynamoDB_20120810.GetItem']));
  });

  test('write-api answers 503 and logs why', async () => {
    const aws = await startAwsStub({ items: [item] });
    const { result, log } = await invoke('write-api', HTTP_EVENT, undefined, aws.url);
    aws.close();
    expect(result).toMatchObject({ statusCode: 503 });
    expect(log).toContain(`format ${LEDGER_FORMAT + 1}`);
    expect(aws.requests.filter((request) => request.endsWith('TransactWriteItems'))).toEqual([]);
  });
});

describe('while AWS cannot be reached', () => {
  test('write-api answers 503, with a problem', async () => {
    const { result } = await invoke('write-api', HTTP_EVENT, undefined, UNREACHABLE);
    expect(result).toMatchObject({ statusCode: 503, headers: { 'content-type': 'application/problem+json' } });
  });

  test('publish has no ring of the stream sent again, and logs the fault', async () => {
    const { result, log } = await invoke('publish', STREAM_EVENT, undefined, UNREACHABLE);
    expect(result).toEqual(NO_FAILURES);
    expect(log.split('\n').map((line) => JSON.parse(line).level)).toContain('error');
    expect(outcomesIn(log)).toEqual([]);
  });

  test('worker fails for its schedule', async () => {
    expect((await invoke('worker', SCHEDULE_EVENT, undefined, UNREACHABLE)).fault?.when).toBe('call');
  });
});
