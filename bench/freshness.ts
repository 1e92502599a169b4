/**
 * From an acknowledged write until its body is in the store, and until the signed log has its entry. The floor is the write
 * itself, from sending it until it is acknowledged: one synced transaction, over HTTP, in the same rounds.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOG_ROOT } from '../contract/public-objects.ts';
import { marketUrl } from '../contract/routes.ts';
import type { BenchOptions } from './benchmark.ts';
import { type EmbeddedProcess, startEmbedded } from './embedded-process.ts';
import { quantile } from './rounds.ts';
import { readSample, type SampleMarket } from './synthetic-markets.ts';
import { number } from './table.ts';

const WRITES = 100;
const FULL_WRITES = 300;
const QUICK_WRITES = 3;
const LOOK_EVERY_MS = 2;
/** Background work of the start is not measured. */
const SETTLE_MS = 3_000;

export async function benchFreshness({ quick, full, workspace, section }: BenchOptions): Promise<void> {
  const writes = quick ? QUICK_WRITES : full ? FULL_WRITES : WRITES;
  section.say(
    `The embedded server with the sample: ${number(writes)} batches of one record, one after the other.`,
    'From the acknowledgement until the body is in the store, and until the signed log has the entry. A cache adds up to 15 s.',
    'Floor: from sending the batch until it is acknowledged.',
  );
  const sample = await readSample();
  const server = await startEmbedded(workspace, join(workspace.folder('freshness'), 'data'));
  await sleep(quick ? 0 : SETTLE_MS);
  const measured: Fresh[] = [];
  for (let index = 0; index < writes; index++) {
    measured.push(await writeOne(server, sample[index % sample.length] as SampleMarket, index));
  }
  await server.stop();
  const row = (name: string, msOf: (fresh: Fresh) => number) => {
    const [mine, floor] = [measured.map(msOf), measured.map(({ acknowledgedMs }) => acknowledgedMs)];
    const [p50, p99] = [quantile(mine, 0.5), quantile(mine, 0.99)];
    const toFloor = [p50 / quantile(floor, 0.5), p99 / quantile(floor, 0.99)];
    return [name, number(p50, 1), number(p99, 1), ...toFloor.map((ratio) => number(ratio, 1))];
  };
  section.table(
    ['', 'p50, ms', 'p99, ms', 'p50 to the floor', 'p99 to the floor'],
    [
      row('write acknowledged (floor)', ({ acknowledgedMs }) => acknowledgedMs),
      row('body public', ({ bodyMs }) => bodyMs),
      row('log entry signed and public', ({ logMs }) => logMs),
    ],
  );
}

interface Fresh {
  readonly acknowledgedMs: number;
  /** From the acknowledgement on, as the next one. */
  readonly bodyMs: number;
  readonly logMs: number;
}

async function writeOne(
  server: EmbeddedProcess,
  { market, observations }: SampleMarket,
  index: number,
): Promise<Fresh> {
  const amountMinor = 1_000_000_000 + index;
  const observedAt = new Date(Date.now() - 1_000).toISOString();
  const record = { ...observations.at(-1), amountMinor, observedAt, sourceValue: null, outlierConfirmed: true };
  const stored = (path: string) => readFile(join(server.dataFolder, `public${path}`), 'utf8');
  const checkpoint = await stored(`${LOG_ROOT}/checkpoint`);
  const sentAtMs = performance.now();
  const answer = await fetch(`${server.baseUrl}/api/v1/ingest/batches`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.operatorKey()}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ records: [{ ...record, metric: 'bench' }] }),
  });
  const acknowledgedAtMs = performance.now();
  if (!answer.ok) throw new Error(`the batch was answered ${answer.status}: ${await answer.text()}`);
  const after = async (isThere: () => Promise<boolean>): Promise<number> => {
    while (!(await isThere())) await sleep(LOOK_EVERY_MS);
    return performance.now() - acknowledgedAtMs;
  };
  const [bodyMs, logMs] = await Promise.all([
    after(async () => (await stored(`${marketUrl(market.slug)}.json`)).includes(`"amountMinor":${amountMinor},`)),
    after(async () => (await stored(`${LOG_ROOT}/checkpoint`)) !== checkpoint),
  ]);
  return { acknowledgedMs: acknowledgedAtMs - sentAtMs, bodyMs, logMs };
}
