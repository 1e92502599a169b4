/** The state machine of the full republish: its steps, in order, and what happens when one fails. */
import { describe, expect, it } from 'vitest';
import { RANGES_AT_ONCE, republishDefinition } from '../../infra/republish-definition.ts';

const definition = republishDefinition({ partition: 'aws', planArn: 'plan', rangeArn: 'range', commitArn: 'commit' });
const { States } = definition;

type StateName = keyof typeof States;
// biome-ignore lint/suspicious/noExplicitAny: states of different types have different fields.
const stateOf = (name: StateName): any => States[name];

describe('the definition', () => {
  it('goes through plan, render, commit, apply and finish', () => {
    const path: string[] = [];
    for (let name: StateName | undefined = definition.StartAt as StateName; name; name = stateOf(name).Next)
      path.push(name);
    expect(path).toEqual(['Plan', 'Render', 'Commit', 'Apply', 'Finish']);
    expect(stateOf('Finish').End).toBe(true);
  });

  it('leads only to states that it has', () => {
    for (const name of Object.keys(States) as StateName[]) {
      const { Next, Catch = [] } = stateOf(name);
      const targets = [Next, ...Catch.map((caught: { Next: string }) => caught.Next)].filter(Boolean);
      for (const target of targets) expect(Object.keys(States)).toContain(target);
    }
  });

  it.each(['Render', 'Commit'] as const)('abandons it when %s fails: nothing of it is public yet', (name) => {
    expect(stateOf(name).Catch).toEqual([{ ErrorEquals: ['States.ALL'], ResultPath: '$.fault', Next: 'Abandon' }]);
    expect(stateOf('Abandon').Next).toBe('Abandoned');
    expect(stateOf('Abandoned').Type).toBe('Fail');
  });

  it.each(['Apply', 'Finish'] as const)('abandons nothing when %s fails: HEAD is swapped', (name) => {
    expect(stateOf(name)).not.toHaveProperty('Catch');
  });

  it.each(['Render', 'Apply'] as const)('has %s do every range, some at a time, and none may fail', (name) => {
    expect(stateOf(name)).toMatchObject({
      Type: 'Map',
      ItemsPath: '$.ranges',
      MaxConcurrency: RANGES_AT_ONCE,
      ToleratedFailureCount: 0,
      ItemSelector: { step: name.toLowerCase(), 'republish.$': '$.republish', 'range.$': '$$.Map.Item.Value' },
      ItemProcessor: { ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' } },
      ResultPath: null,
    });
    expect(stateOf(name).ItemProcessor.States.Range.Parameters).toEqual({ FunctionName: 'range', 'Payload.$': '$' });
  });

  it.each([
    ['Commit', 'commit'],
    ['Finish', 'finish'],
    ['Abandon', 'abandon'],
  ] as const)('has %s do the step %s, and hand the plan on', (name, step) => {
    expect(stateOf(name)).toMatchObject({
      Parameters: { FunctionName: 'commit', Payload: { step, 'republish.$': '$.republish' } },
      ResultPath: null,
    });
  });

  it('has every task tried again, unless it was superseded or what is stored is wrong', () => {
    const tasks = [
      ...(['Plan', 'Commit', 'Finish', 'Abandon'] as const).map(stateOf),
      ...(['Render', 'Apply'] as const).map((name) => stateOf(name).ItemProcessor.States.Range),
    ];
    for (const { Retry, TimeoutSeconds, Resource } of tasks) {
      expect(Resource).toBe('arn:aws:states:::lambda:invoke');
      expect(TimeoutSeconds).toBeLessThan(1_000);
      const retried = Retry.flatMap(({ ErrorEquals }: { ErrorEquals: string[] }) => ErrorEquals);
      expect(retried).toContain('StorageUnavailable');
      expect(retried).toContain('Lambda.TooManyRequestsException');
      for (const final of ['Superseded', 'ImmutableMismatch', 'StorageCorrupt', 'States.ALL', 'States.TaskFailed']) {
        expect(retried).not.toContain(final);
      }
    }
  });
});
