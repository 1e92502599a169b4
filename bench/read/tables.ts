/** The tables of ratios and of rates, and whether each target is reached. */
import { median, ratios } from '../rounds.ts';
import type { Section } from '../section.ts';
import { number, withSpread } from '../table.ts';
import type { Turn } from './contest.ts';
import type { ReadResult } from './measure.ts';

const perCpuSecond = (turns: readonly Turn[] = []) => turns.map(({ requestsPerCpuSecond }) => requestsPerCpuSecond);

const toNginx = ({ turns }: ReadResult) => ratios(perCpuSecond(turns.edge), perCpuSecond(turns.nginx));

/** Whether the median of the rounds is below the target. */
export function isMissed(result: ReadResult): boolean {
  return result.item.target !== null && median(toNginx(result)) < result.item.target;
}

export function tellRatios(section: Section, results: readonly ReadResult[]): void {
  const rows = results.map((result) => {
    const { item, turns } = result;
    const { edge, 'node:http': replay, Fastify: fastify } = turns;
    const to = (peer: readonly Turn[], digits: number) =>
      withSpread(ratios(perCpuSecond(edge), perCpuSecond(peer)), digits);
    const isTarget = item.target !== null;
    return [
      item.title,
      withSpread(toNginx(result), 2),
      isTarget ? `≥ ${number(item.target, 1)}` : '',
      isTarget ? (isMissed(result) ? 'missed' : 'reached') : '',
      replay === undefined ? '' : to(replay, 2),
      ...(fastify === undefined ? [] : [to(fastify, 1)]),
    ];
  });
  const peers = rows.some(({ length }) => length > 5) ? ['edge to Fastify'] : [];
  section.table(['requests per CPU second', 'edge to nginx', 'target', '', 'edge to bare node:http', ...peers], rows);
}

export function tellRates(section: Section, results: readonly ReadResult[]): void {
  const rows = results.flatMap(({ item, agreed, turns }) =>
    Object.entries(turns).map(([name, own]) => {
      const sizes = agreed.get(name) ?? agreed.get('edge');
      const rates = own.map(({ requestsPerSecond }) => requestsPerSecond);
      return [
        `${item.title}: ${name}`,
        withSpread(perCpuSecond(own), 0),
        withSpread(rates, 0),
        number(median(own.map(({ p99Ms }) => p99Ms)), 2),
        `${number(median(own.map(({ busy }) => busy)) * 100)} %`,
        `${number(sizes?.fieldBytes ?? 0)} + ${number(sizes?.bodyBytes ?? 0)}`,
      ];
    }),
  );
  section.table(['', 'requests/CPU s', 'requests/s', 'p99, ms', 'busy', 'bytes of fields + body'], rows);
}
