/** The tables of docs/scale.md are those that `npm run bench -- scale --write` counts now, to a twentieth. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { expect, test } from 'vitest';
import { BY_CANARY } from '../../infra/constructs/service-function.ts';
import { apiAlarms, edgeAlarms } from '../../infra/deployment/alarms.ts';
import { readConfiguration } from '../../infra/deployment/configuration.ts';
import { ALARM_METRICS, ALARMS, METRICS } from '../../tools/bench/aws/costs.ts';
import { benchScale } from '../../tools/bench/aws/scale.ts';
import { TABLES } from '../../tools/bench/table.ts';

const TEXT = readFileSync(join(import.meta.dirname, '../../docs/deploy.md'), 'utf8');
const SCALE = readFileSync(join(import.meta.dirname, '../../docs/scale.md'), 'utf8');
/** Sizes, and so units, differ a little from run to run: ids are random. */
const SHARE = 0.05;

const cellsOf = (table: string) => table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
const numberOf = (cell: string) => Number(cell.replaceAll(',', ''));

function isAbout(stated: string | undefined, counted: string): boolean {
  if (stated === counted || /^-+$/.test(counted)) return true;
  const [left, right] = [numberOf(stated ?? ''), numberOf(counted)];
  return Math.abs(left - right) <= Math.max(1, SHARE * right);
}

test('docs/scale.md states what `npm run bench -- scale --write` counts', async () => {
  for (const table of (await benchScale()).match(TABLES) ?? []) {
    const stated = cellsOf(SCALE.slice(SCALE.indexOf(table.slice(0, table.indexOf('|', 2)).trimEnd())));
    for (const [row, cells] of cellsOf(table.trimEnd()).entries()) {
      for (const [column, cell] of cells.entries()) {
        expect(isAbout(stated[row]?.[column], cell), `${cells[1]}: ${stated[row]?.[column]}, not ${cell}`).toBe(true);
      }
    }
  }
});

test('docs/deploy.md counts the deployed alarms', () => {
  const configuration = readConfiguration({ waitlistEmail: 'keys@tidemark.test' });
  const rules = [...apiAlarms(configuration, 'T'), ...edgeAlarms({ reads: 'E1', writes: 'E2', functions: ['F', 'G'] })];
  expect(rules.length + BY_CANARY.length).toBe(ALARMS);
  const metricsOf = ({ metric }: (typeof rules)[number]) =>
    metric instanceof MathExpression ? Object.keys(metric.usingMetrics).length : 1;
  expect(rules.reduce((sum, rule) => sum + metricsOf(rule), BY_CANARY.length)).toBe(ALARM_METRICS);
  expect(TEXT).toContain(
    `each of ${ALARM_METRICS} metrics of ${ALARMS} alarms, $0.30 for each of ${METRICS} metrics of our own`,
  );
});
