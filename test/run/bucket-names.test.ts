/** `--to s3://…` before the first request. test/aws/bucket-target.test.ts has what follows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../cli/program/exit-codes.ts';
import { openRunWorld } from './run-world.ts';

const REFUSED = EXIT_CODES.refused.code;
const WITHOUT_SDK = { NODE_OPTIONS: `--import ${join(import.meta.dirname, 'without-sdk.ts')}` };

test('without the SDK a bucket is refused, and a folder needs none', async () => {
  const { run, records, target, data } = await openRunWorld();
  expect(await run(['--to', 's3://prices/site'], WITHOUT_SDK)).toMatchObject({ code: REFUSED });
  expect(existsSync(join(data, 'store/bucket.json'))).toBe(false);
  expect(await run([await records('a.ndjson', { gold: [1000] }), '--to', target], WITHOUT_SDK)).toMatchObject({
    code: 0,
  });
});

test.each(['s3://', 's3://Prices', 's3://prices//a', 's3://prices/../a', 's3://prices/a b', 'gs://prices'])(
  '%s is refused',
  async (name) => {
    const { run } = await openRunWorld();
    expect(await run(['--to', name])).toMatchObject({ code: REFUSED });
  },
);

test('an endpoint that is no URL is refused', async () => {
  const { run } = await openRunWorld();
  expect(await run(['--to', 's3://prices'], { AWS_ENDPOINT_URL_S3: 'localhost:9000' })).toMatchObject({
    code: REFUSED,
  });
});
