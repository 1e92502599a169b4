import {
  CloudFrontClient,
  CreateInvalidationCommand,
  TooManyInvalidationsInProgress,
} from '@aws-sdk/client-cloudfront';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { PurgeTargets } from '../../../publisher/notify/purge.ts';
import {
  createCloudFrontClient,
  MAX_PURGE_TAGS,
  openCloudFrontPurge,
} from '../../../publisher/notify/purge-cloudfront.ts';

function openPurge() {
  const mock = mockClient(CloudFrontClient);
  onTestFinished(() => mock.restore());
  mock.on(CreateInvalidationCommand).resolves({});
  let references = 0;
  const purge = openCloudFrontPurge({
    client: createCloudFrontClient(),
    distributionId: 'E123',
    newCallerReference: () => `reference-${++references}`,
  });
  return { mock, purge, sent: () => mock.calls().map(({ args: [command] }) => command.input) };
}

const invalidation = (reference: number, Items: string[]) => ({
  DistributionId: 'E123',
  InvalidationBatch: { CallerReference: `reference-${reference}`, Paths: { Quantity: Items.length, Items } },
});
const tags = (count: number) => Array.from({ length: count }, (_, index) => `market-${index}`);

describe('a purge of CloudFront', () => {
  test.each<[string, PurgeTargets, string[]]>([
    ['one tag', { tags: ['gold-usd'] }, ['#gold-usd']],
    [
      'the most tags that are purged one by one',
      { tags: tags(MAX_PURGE_TAGS) },
      tags(MAX_PURGE_TAGS).map((tag) => `#${tag}`),
    ],
    ['one more than that', { tags: tags(MAX_PURGE_TAGS + 1) }, ['/*']],
    ['everything', 'everything', ['/*']],
  ])('of %s is this one invalidation', async (_, targets, items) => {
    const { purge, sent } = openPurge();
    await purge.purge(targets);
    expect(sent()).toEqual([invalidation(1, items)]);
  });

  test('is a new invalidation each time, also for the same targets, and none for nothing', async () => {
    const { purge, sent } = openPurge();
    await purge.purge({ tags: ['gold-usd'] });
    await purge.purge({ tags: [] });
    await purge.purge({ tags: ['gold-usd'] });
    expect(sent()).toEqual([invalidation(1, ['#gold-usd']), invalidation(2, ['#gold-usd'])]);
  });

  test("rejects with CloudFront's error if it was refused", async () => {
    const { mock, purge } = openPurge();
    const error = new TooManyInvalidationsInProgress({ message: 'later', $metadata: {} });
    mock.on(CreateInvalidationCommand).rejects(error);
    await expect(purge.purge({ tags: ['gold-usd'] })).rejects.toBe(error);
  });
});
