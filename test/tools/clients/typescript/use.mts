/**
 * Uses the client that @hey-api/openapi-ts generates beside this file. `.mts`, so that the project's own type check, which
 * has no generated client, leaves it out.
 */
import { createIngestBatch, getIngestBatch, getMarketHistory, type IngestRecord, listMarkets } from './client';
import { client } from './client/client.gen';

const { TIDEMARK_URL: baseUrl = '', TIDEMARK_KEY: key = '' } = process.env;
client.setConfig({ baseUrl, auth: key });

async function countMarkets(): Promise<number> {
  let count = 0;
  for (let cursor: string | undefined; ; ) {
    const { data } = await listMarkets({ query: cursor === undefined ? {} : { cursor }, throwOnError: true });
    count += data.data.length;
    if (data.page.nextCursor === null) return count;
    cursor = data.page.nextCursor;
  }
}

async function post(records: IngestRecord[]): Promise<string> {
  const { data } = await createIngestBatch({
    body: { records },
    headers: { 'Idempotency-Key': 'typescript-batch-1' },
    throwOnError: true,
  });
  return data.id;
}

async function readReport(id: string) {
  for (;;) {
    const { data } = await getIngestBatch({ path: { id }, throwOnError: true });
    if (data.state === 'applied' || data.state === 'refused') return data;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function main(): Promise<void> {
  const markets = await countMarkets();
  const history = await getMarketHistory({ path: { slug: 'gold-usd' }, throwOnError: true });
  const [newest] = history.data.data;
  if (newest?.kind !== 'money') throw new Error('the newest price is not an amount of money');
  const id = await post([
    {
      type: 'observation',
      market: 'gold-usd',
      metric: 'price',
      value: '4150.25',
      currency: 'USD',
      sourceValue: '4150.25',
      sourceLabel: 'An exchange',
      sourceUrl: 'https://exchange.example/typescript',
      observedAt: '2026-09-01T00:00:00Z',
      confidence: 'high',
      status: 'final',
    },
  ]);
  const { state, counts } = await readReport(id);
  const { error } = await getIngestBatch({ path: { id: 'bat_01JD8N5W5XQ6M4T0VZ8R2K7C3A' } });
  console.log(
    JSON.stringify({
      markets,
      newest: newest.decimal,
      state,
      accepted: counts.accepted,
      problem: error?.code,
    }),
  );
}

void main();
