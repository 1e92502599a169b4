/** The memory of `npm start`: with the sample, and after a feed of 150 rows a second. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from './processor-time.ts';
import { interleave } from './rounds.ts';
import { type ServiceProcess, startServiceProcess } from './service.ts';
import { readSample, type SampleMarket } from './synthetic-markets.ts';
import { markdownTable, megabytes, number, withSpread } from './table.ts';
import type { BenchOptions } from './workspace.ts';

const ROWS_A_SECOND = 150;

export async function benchMemory({ quick, full, rounds, workspace }: BenchOptions): Promise<string> {
  const feedSeconds = quick ? 2 : full ? 540 : 60;
  const idleMs = quick ? 0 : 30_000;
  const folder = join(workspace.folder('memory'), 'data');
  const sample = await readSample();
  const first = await startServiceProcess(workspace, folder);
  await sleep(idleMs);
  const rows = [row('first start, settled', first)];
  await first.stop();
  const { seconds } = await interleave(rounds, {
    seconds: async () => {
      const service = await startServiceProcess(workspace, folder);
      await service.stop();
      return service.startedMs / 1000;
    },
  });
  const service = await startServiceProcess(workspace, folder);
  await sleep(idleMs);
  rows.push(row('second start, idle', service, withSpread(seconds, 2)));
  await feed(service, sample, feedSeconds);
  rows.push(row(`after ${number(feedSeconds)} s of ${ROWS_A_SECOND} rows/s`, service));
  await service.stop();
  return `The embedded server after its first start, which takes the sample in; and after a second start, with nothing to do.
Then ${ROWS_A_SECOND} rows arrive each second, over the markets of the sample. Seconds are from the start of the process until it serves.

${markdownTable(['', 'serves after, s', 'memory', 'most so far'], rows)}`;
}

function row(name: string, { pid, startedMs }: ServiceProcess, seconds = number(startedMs / 1000, 2)): string[] {
  const { now, most } = residentBytes(pid);
  return [name, seconds, megabytes(now), megabytes(most)];
}

/** Sends one batch a second. A batch does not wait for the previous one. */
async function feed(service: ServiceProcess, sample: readonly SampleMarket[], seconds: number): Promise<void> {
  const sent: Promise<void>[] = [];
  for (let second = 0; second < seconds; second++) {
    const observedAt = new Date(Date.now() - 1_000).toISOString();
    const records = Array.from({ length: ROWS_A_SECOND }, (_, row) => {
      const { observations } = sample[(second * ROWS_A_SECOND + row) % sample.length] as SampleMarket;
      return { ...observations.at(-1), observedAt };
    });
    sent.push(service.send(records));
    await sleep(1_000);
  }
  await Promise.all(sent);
}
