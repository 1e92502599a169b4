/** The suites of the write API in which requests meet, count and lose answers, on tables of an engine. */
import { vi } from 'vitest';
import { engineEndpoint } from './engine-endpoint.ts';

vi.mock('../write-api/engines.ts', async () => {
  const { openEngineTable } = await import('./dynamodb-table.ts');
  return { ENGINES: [['dynoxide', () => openEngineTable(endpoint)]] };
});

const endpoint = engineEndpoint('dynoxide');

vi.setConfig({ testTimeout: 120_000 });

await import('../write-api/busy-counters.test.ts');
await import('../write-api/idempotency.test.ts');
await import('../write-api/lost-answers.test.ts');
