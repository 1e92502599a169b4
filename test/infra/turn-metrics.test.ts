/** What the publisher says of its turns in its log is what its alarms listen for. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TURN_METRICS } from '../../contract/aws.ts';
import { logTurn } from '../../publisher/entry/log.ts';
import { type Properties, synthesised } from './synthesised.ts';

const FUNCTION = 'tidemark-publish';
const DURATION_MS = 1_234;

/** One line of the log, for a turn that has taken so long. */
function lineOfTurn(): Properties {
  const lines: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
  vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', FUNCTION);
  vi.useFakeTimers({ now: Date.parse('2026-11-20T15:00:00Z') });
  onTestFinished(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
  });
  logTurn('published', Date.now() - DURATION_MS, { generation: 7, moreIsDue: false });
  spy.mockRestore();
  expect(lines).toEqual([expect.stringMatching(/^[^\n]+\n$/)]);
  return JSON.parse(lines[0] ?? '');
}

describe('the line of a turn', () => {
  it('is of the embedded metric format: a time in ms, a set of dimensions, metrics with units, and each value beside it', () => {
    const { _aws: envelope, ...members } = lineOfTurn();
    expect(Object.keys(envelope).sort()).toEqual(['CloudWatchMetrics', 'Timestamp']);
    expect(envelope.Timestamp).toBe(Date.parse('2026-11-20T15:00:00Z'));
    expect(envelope.CloudWatchMetrics).toHaveLength(1);
    const [{ Namespace, Dimensions, Metrics, ...others }] = envelope.CloudWatchMetrics;
    expect(others).toEqual({});
    expect(Namespace).toMatch(/^[\w./#-]{1,255}$/);
    expect(Dimensions).toEqual([[TURN_METRICS.dimension]]);
    expect(members[TURN_METRICS.dimension]).toBe(FUNCTION);
    expect(Metrics).toEqual([
      { Name: TURN_METRICS.turns, Unit: 'Count' },
      { Name: TURN_METRICS.duration, Unit: 'Milliseconds' },
    ]);
    expect(Metrics.map(({ Name }: Properties) => members[Name])).toEqual([1, DURATION_MS]);
  });

  it('is a line of the log like any other', () => {
    expect(lineOfTurn()).toMatchObject({ level: 'info', what: 'published', generation: 7, moreIsDue: false });
  });
});

describe.each([
  ['publisher-lag', TURN_METRICS.turns],
  ['publisher-slow', TURN_METRICS.duration],
])('the alarm %s', (name, metric) => {
  it('hears what that line says, by namespace, name and dimension', () => {
    const [{ Namespace, Dimensions }] = lineOfTurn()._aws.CloudWatchMetrics;
    const template = synthesised();
    const [alarm] = Object.values(
      template('ops').findResources('AWS::CloudWatch::Alarm', { Properties: { AlarmName: `tidemark-${name}` } }),
    );
    const { Properties: heard } = alarm as Properties;
    expect(heard).toMatchObject({ Namespace, MetricName: metric });
    expect(heard.Dimensions.map(({ Name }: Properties) => Name)).toEqual(Dimensions[0]);

    // The dimension's value is what the api stack exports: the function's own name, which is what Lambda tells it.
    const exported = Object.values(template('api').findOutputs('*')).find(
      ({ Export }) => Export?.Name === heard.Dimensions[0].Value['Fn::ImportValue'],
    );
    const publish = template('api').findResources('AWS::Lambda::Function')[exported?.Value.Ref];
    expect(publish?.Properties.FunctionName).toBe(FUNCTION);
  });
});
