/** The metrics, as the reference parser of OpenMetrics reads them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ReadCounts } from '../../server/edge/read-counts.ts';
import { familiesOf, type Measured } from '../../server/metrics/families.ts';
import { openMetricsText } from '../../server/metrics/open-metrics.ts';
import { WriteCounts } from '../../server/metrics/write-counts.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

const READ = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = text_string_to_metric_families(open(sys.argv[1], encoding="utf-8").read())
print(json.dumps([[f.name, f.type, f.unit, [[s.name, s.labels, s.value] for s in f.samples]] for f in families]))
`;

type Read = readonly (readonly [name: string, type: string, unit: string, samples: readonly unknown[]])[];

async function readByReference(text: string) {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'metrics.txt'), text);
  return await runTool(PYTHON, ['-c', READ, 'metrics.txt'], { cwd: folder });
}

const writes = new WriteCounts();
writes.add({ operation: 'createBatch', status: 202 });
const EMPTY: Measured = {
  health: { status: 'starting', lastVerify: null },
  reads: new ReadCounts(),
  writes: new WriteCounts(),
  sources: [],
  storage: null,
  freeBytes: 0,
  oldestExpectedMs: null,
  lastBackupMs: null,
  loopDelays: [],
};
const FULL: Measured = {
  health: {
    status: 'ok',
    generation: 7,
    publishLagSeconds: 1,
    marksDue: 2,
    deferred: 3,
    queue: 4,
    failingSources: 6,
    missedRuns: 7,
    lateSources: 5,
    lastVerify: { at: '2026-10-01T00:00:00Z', findings: 2, missingValues: 3, share: '0 of 1' },
  },
  reads: new ReadCounts(),
  writes,
  sources: [
    { name: 'a', failures: 1, lastRunMs: 1e12, lastSuccessMs: null, nextRunMs: 2e12, isMissed: false },
    { name: 'b', failures: 0, lastRunMs: null, lastSuccessMs: null, nextRunMs: null, isMissed: false },
  ],
  storage: { ledger: 1, objects: 2, uploads: 3, archive: 4 },
  freeBytes: 5e12,
  oldestExpectedMs: 1_790_000_000_500,
  lastBackupMs: 1_790_000_000_500,
  loopDelays: [['readers', [['0.5', 0.000_000_1]]]],
};

test.each([
  ['of a server that starts', EMPTY],
  ['with everything', FULL],
])('metrics %s are valid', async (_, measured) => {
  const families = familiesOf(measured);
  const { exitCode, stdout, output } = await readByReference(openMetricsText(families));
  expect(exitCode, output).toBe(0);
  const read = JSON.parse(stdout) as Read;
  expect(read.map(([name, type, unit, samples]) => [name, type, unit, samples.length])).toEqual(
    families.map(({ name, type, samples }) => [name, type, /_(seconds|bytes)$/.exec(name)?.[1] ?? '', samples.length]),
  );
});

test('labels and words come through as they are', async () => {
  const text = 'a "b" \\ c\nd';
  const family = { name: 'odd', type: 'counter', help: text, samples: [{ labels: { text }, value: 1e21 }] } as const;
  const { stdout, output } = await readByReference(openMetricsText([family]));
  expect(JSON.parse(stdout || 'null'), output).toEqual([['odd', 'counter', '', [['odd_total', { text }, 1e21]]]]);
});

test('the parser refuses what is no OpenMetrics', async () => {
  expect((await readByReference('# TYPE a counter\na 1\n# EOF\n')).exitCode).toBe(1);
});
