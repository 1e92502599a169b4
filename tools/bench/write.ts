/** Measures the time from sending a batch of one record until it is acknowledged, public, and in the signed log. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { marketUrl } from '../../contract/files/routes.ts';
import { elapsedMs, quantile } from './rounds.ts';
import { type ServiceProcess, startServiceProcess } from './service.ts';
import { readSample, type SampleMarket } from './synthetic-markets.ts';
import { markdownTable, number } from './table.ts';
import type { BenchOptions } from './workspace.ts';

const LOOK_EVERY_MS = 2;
/** The start's background work must end first, because it would be measured too. */
const SETTLE_MS = 10_000;

interface Times {
  readonly acknowledgedMs: number;
  /** From the acknowledgement on, like the next one. */
  readonly bodyMs: number;
  readonly logMs: number;
}

export async function benchWrite({ quick, full, workspace }: BenchOptions): Promise<string> {
  const writes = quick ? 3 : full ? 300 : 100;
  const sample = await readSample();
  const service = await startServiceProcess(workspace, join(workspace.folder('write'), 'data'));
  await sleep(quick ? 0 : SETTLE_MS);
  const times: Times[] = [];
  for (let index = 0; index < writes; index++) {
    times.push(await writeOne(service, sample[index % sample.length] as SampleMarket, index));
  }
  await service.stop();
  const row = (name: string, of: keyof Times) => {
    const samples = times.map((each) => each[of]);
    return [name, ...[0.5, 0.99].map((share) => number(quantile(samples, share), 1))];
  };
  const rows = [
    row('write acknowledged', 'acknowledgedMs'),
    row('body public, from then on', 'bodyMs'),
    row('entry in the signed log', 'logMs'),
  ];
  return `The embedded server with the sample: ${number(writes)} batches of one record, one after the other, over HTTP.

${markdownTable(['', 'p50, ms', 'p99, ms'], rows)}`;
}

async function writeOne(service: ServiceProcess, market: SampleMarket, index: number): Promise<Times> {
  const amountMinor = 1_000_000_000 + index;
  const observedAt = new Date(Date.now() - 1_000).toISOString();
  const newest = market.observations.at(-1) as SampleMarket['observations'][number];
  const record = { ...newest, metric: 'bench', amountMinor, observedAt, sourceValue: null, outlierConfirmed: true };
  const log = `${LOG_ROOT}/checkpoint`;
  const checkpoint = await service.get(log);
  const acknowledgedMs = await elapsedMs(() => service.send([record]));
  const until = (isThere: () => Promise<boolean>) =>
    elapsedMs(async () => {
      while (!(await isThere())) await sleep(LOOK_EVERY_MS);
    });
  const [bodyMs, logMs] = await Promise.all([
    until(async () => (await service.get(marketUrl(market.market.slug))).includes(`"amountMinor":${amountMinor},`)),
    until(async () => (await service.get(log)) !== checkpoint),
  ]);
  return { acknowledgedMs, bodyMs, logMs };
}
