/** Which value the address of a market's page leads to. */
import { expect, it } from 'vitest';
import { chosenRow } from '../../../clients/web/browser/history/as-of-view.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';

const AT_MS = Date.UTC(2026, 0, 10);
const row = (id: string, recordedAt: string, releasedAt: string | null = null) =>
  ({ id, recordedAt, releasedAt }) as PublicObservation;
const early = row('early', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z');
const late = row('late', '2026-02-01T00:00:00Z', '2026-01-01T00:00:00Z');
const versionOf = (id: string) => [early, late].find((each) => each.id === id);

it.each([
  ['now', null, 'early', early],
  ['now', null, 'obs-of-nowhere', null],
  ['as recorded then, although replaced by then', { atMs: AT_MS, clock: 'recorded' }, 'early', early],
  ['as recorded then: it was not', { atMs: AT_MS, clock: 'recorded' }, 'late', null],
  ['as released then', { atMs: AT_MS, clock: 'released' }, 'late', late],
  ['as released then: it was not', { atMs: AT_MS, clock: 'released' }, 'early', null],
] as const)('a value is found %s', (_, asOf, point, found) => {
  expect(chosenRow(point, asOf, [[]], versionOf)).toBe(found);
});

it('of an earlier moment it is the row that says nothing of later versions', () => {
  const then = { ...early };
  expect(chosenRow('early', { atMs: AT_MS, clock: 'recorded' }, [[], [then]], versionOf)).toBe(then);
});
