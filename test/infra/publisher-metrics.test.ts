/** The metrics in the publisher's log, in the form that CloudWatch reads. stacks.test.ts has their alarms. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { logOutcome } from '../../publisher/entry/log.ts';
import { PUBLISHER_METRICS } from '../../storage/aws/names.ts';
import type { Properties } from './synthesised.ts';

const FUNCTION = 'tidemark-publish';
const DURATION_MS = 1_234;
const BEHIND_MS = 60_000;

/** The log line of a generation with this duration. */
function lineOfGeneration(tooLong?: readonly string[]): Properties {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', FUNCTION);
  vi.useFakeTimers({ now: Date.parse('2026-11-20T15:00:00Z') });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });
  const counted =
    tooLong === undefined
      ? {}
      : {
          behindMs: BEHIND_MS,
          deferredTooLong: tooLong.map((slug) => ({ slug, sinceMs: 0, reason: 'it does not add up' })),
        };
  logOutcome({ what: 'published', startedMs: Date.now() - DURATION_MS, ...counted }, { generation: 7 });
  spy.mockRestore();
  expect(lines).toEqual([expect.stringMatching(/^[^\n]+\n$/)]);
  return JSON.parse(lines[0] ?? '');
}

describe('the line of a generation', () => {
  it('is of the embedded metric format: a time in ms, a set of dimensions, metrics with units, and each value beside it', () => {
    const { _aws: envelope, ...members } = lineOfGeneration(['gold', 'tin']);
    expect(Object.keys(envelope).sort()).toEqual(['CloudWatchMetrics', 'Timestamp']);
    expect(envelope.Timestamp).toBe(Date.parse('2026-11-20T15:00:00Z'));
    expect(envelope.CloudWatchMetrics).toHaveLength(1);
    const [{ Namespace, Dimensions, Metrics, ...others }] = envelope.CloudWatchMetrics;
    expect(others).toEqual({});
    expect([Namespace, Dimensions]).toEqual(['Tidemark', [['FunctionName']]]);
    expect(members[PUBLISHER_METRICS.dimension]).toBe(FUNCTION);
    expect(Metrics).toEqual([
      { Name: PUBLISHER_METRICS.completed, Unit: 'Count' },
      { Name: PUBLISHER_METRICS.duration, Unit: 'Milliseconds' },
      { Name: PUBLISHER_METRICS.behind, Unit: 'Milliseconds' },
      { Name: PUBLISHER_METRICS.deferredTooLong, Unit: 'Count' },
    ]);
    expect(Metrics.map(({ Name }: Properties) => members[Name])).toEqual([1, DURATION_MS, BEHIND_MS, 2]);
  });

  it('does not count deferred markets if a rival was quicker', () => {
    const { _aws: envelope, ...members } = lineOfGeneration();
    const [{ Metrics }] = envelope.CloudWatchMetrics;
    expect(Metrics.map(({ Name }: Properties) => Name)).not.toContain(PUBLISHER_METRICS.deferredTooLong);
    expect(members).not.toHaveProperty(PUBLISHER_METRICS.deferredTooLong);
  });

  it('is a line of the log like any other', () => {
    for (const line of [lineOfGeneration(), lineOfGeneration([])]) {
      expect(line).toMatchObject({ level: 'info', what: 'published', generation: 7 });
      expect(line).not.toHaveProperty('toBeRepaired');
    }
  });

  it('names the first of the markets that need a repair, with their reasons, however many they are', () => {
    const { level, toBeRepaired } = lineOfGeneration(['gold', 'tin', 'a', 'b', 'c']);
    const reason = 'it does not add up';
    expect([level, toBeRepaired]).toEqual(['error', `gold: ${reason}; tin: ${reason}; a: ${reason}; …`]);
  });
});
