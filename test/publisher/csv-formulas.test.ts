/** Every CSV file that is published, with texts of a source that spreadsheets would run. */
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ALL_PROJECTIONS } from '../../contract/files/projections.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { publish } from '../../publisher/publish.ts';
import { formulasIn } from '../formulas-in.ts';
import { exportWorld } from './exports/export-world.ts';
import { market, price } from './world.ts';

const LABELS = ['=1+1', '@SUM(A1)', '＝1+1', '＠SUM(A1)', '＋1', '－1', 'x;=1+1', 'x;＝1+1', 'x;"=1+1', 'x,"y";-1+1'];

test('no cell of any CSV file begins with a sign of formulas, and verify --log proves the files', async () => {
  const world = exportWorld();
  const storage = { ...world.options.storage, projections: new Set(ALL_PROJECTIONS) };
  const records = LABELS.flatMap((sourceLabel, index) => [
    { ...(market(`m-${index}`) as object), name: sourceLabel },
    ...[0, 1].map((day) => {
      return {
        ...(price(`m-${index}`, day, -5) as object),
        sourceLabel,
        sourceUrl: `https://example.com/${index};=1+1`,
      };
    }),
  ]) as IngestRecordInput[];
  await world.ingest(records);
  while ((await publish(storage as never)).isMoreDue);
  await makeExport({ ...world.options, storage });
  const files = [...world.objects.snapshot()].flatMap(([key, { body }]) => {
    if (key.endsWith('.csv')) return [[key, Buffer.from(body).toString()]];
    return key.endsWith('.csv.gz') ? [[key, gunzipSync(body).toString()]] : [];
  });
  expect(files.map(([key]) => (key as string).replace(/^.*\//, '').replace(/-[0-9].*/, '')).sort()).toEqual(
    [...LABELS.map(() => 'history.csv'), 'all.csv', 'markets', 'modified.csv', 'observations'].sort(),
  );
  for (const [key, text] of files) {
    expect([key, formulasIn(text as string)]).toEqual([key, []]);
    // The amounts are negative numbers, and stay numbers.
    const hasAmounts = key !== 'public/api/v1/modified.csv';
    expect([key, (text as string).includes(',-0.05,')]).toEqual([key, hasAmounts]);
  }
  expect(await world.findingsOfLog()).toEqual([]);
});
