/** A mark of everything starts the state machine where one invocation could not publish all, whatever comes in between. */
import { beforeEach, describe, expect, test } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import {
  abandonRepublish,
  commitRepublish,
  finishRepublish,
  HOLD_SECONDS,
  planRepublish,
  type RepublishPlan,
} from '../../publisher/republish.ts';
import {
  EXECUTIONS_OF_A_MARK,
  type ExecutionState,
  type StartExecution,
  type Turn,
  takeTurn,
} from '../../publisher/republish-due.ts';
import { applyRange, renderRange } from '../../publisher/republish-range.ts';
import { DIRTY_EVERYTHING_KEY } from '../../storage/records/publication.ts';
import { createWorld, market, price, type World } from './world.ts';

/** Step Functions, as it answers: one execution for each name, and the same answer while that runs. */
interface StateMachine {
  readonly start: StartExecution;
  readonly executions: Map<string, ExecutionState>;
  end(name: string): void;
}

function openStateMachine({ clock }: World): StateMachine {
  const executions = new Map<string, ExecutionState>();
  return {
    executions,
    async start(name) {
      const state = executions.get(name) ?? { kind: 'running', startedAtMs: clock.nowMs };
      executions.set(name, state);
      return state;
    },
    end: (name) => executions.set(name, { kind: 'ended' }),
  };
}

async function markEverything(world: World, attemptId: string): Promise<void> {
  const put = { kind: 'put', key: DIRTY_EVERYTHING_KEY, revision: 0, value: null, if: { kind: 'any' } } as const;
  await world.ledger.transact([put], { attemptId });
}

const markOf = async ({ ledger }: World) => (await ledger.get(DIRTY_EVERYTHING_KEY))?.attemptId ?? null;

const SLUGS = ['a', 'b', 'c', 'd'];
/** One less than there are. */
const MAX_MARKETS = SLUGS.length - 1;

let world: World;
let machine: StateMachine;
const turn = (): Promise<Turn> => takeTurn(world.dependencies, machine.start, MAX_MARKETS);

beforeEach(async () => {
  world = createWorld();
  machine = openStateMachine(world);
  await world.ingest(SLUGS.map((slug) => market(slug)));
  await publish(world.dependencies);
});

/** What an execution does. Every step may be stopped at. */
async function plan(): Promise<RepublishPlan> {
  return await planRepublish(world.dependencies, 2);
}
async function render({ republish, ranges }: RepublishPlan): Promise<void> {
  for (const range of ranges) await renderRange(world.dependencies, republish, range);
}
async function apply({ republish, ranges }: RepublishPlan): Promise<void> {
  for (const range of ranges) await applyRange(world.dependencies, republish, range);
}
async function runs(planned: RepublishPlan): Promise<void> {
  await render(planned);
  await commitRepublish(world.dependencies, planned.republish);
  await apply(planned);
  await finishRepublish(world.dependencies, planned.republish);
}
/** Its end, but for the publication of what was due meanwhile, which is of what is marked by market here. */
async function applyAndEnd(planned: RepublishPlan): Promise<void> {
  await apply(planned);
  await publish(world.dependencies, 'marked-markets');
  await abandonRepublish(world.dependencies, planned.republish);
}
/** A republish that has swapped HEAD, and failed in applying. */
async function left(): Promise<RepublishPlan> {
  await changeWithoutMark();
  const planned = await plan();
  await render(planned);
  await commitRepublish(world.dependencies, planned.republish);
  return planned;
}
/** Makes the next publication have something to swap. */
async function changeWithoutMark(): Promise<void> {
  const [slug = ''] = SLUGS;
  await world.ingest([price(slug, 1, 5)]);
}

describe('an invocation', () => {
  test('publishes everything by itself where there are few markets', async () => {
    await markEverything(world, 'm');
    const outcome = await takeTurn(world.dependencies, machine.start, SLUGS.length);
    expect(outcome).toEqual({ kind: 'publish', scope: 'changed' });
    expect(machine.executions.size).toBe(0);
  });

  test('counts the markets that are defined, also where none is published yet', async () => {
    world = createWorld();
    await world.ingest(SLUGS.map((slug) => market(slug)));
    await markEverything(world, 'm');
    expect(await turn()).toEqual({ kind: 'hold-back' });
  });

  test('takes no mark of everything that comes later', async () => {
    expect(await turn()).toEqual({ kind: 'publish', scope: 'marked-markets' });
    await markEverything(world, 'm');
    await changeWithoutMark();
    await publish(world.dependencies, 'marked-markets');
    expect(await markOf(world)).toBe('m');
    expect(machine.executions.size).toBe(0);
  });

  test('starts one execution, named after the mark, however many see it, and holds back', async () => {
    await markEverything(world, 'm');
    for (const each of await Promise.all([turn(), turn(), turn()])) expect(each).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual(['m']);
  });

  test('asks nobody while a plan holds publications back, whoever has started it', async () => {
    await plan();
    await markEverything(world, 'm');
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect(machine.executions.size).toBe(0);
  });

  test('waits for an execution that has no plan yet for as long as a plan would hold it back, and no longer', async () => {
    await markEverything(world, 'm');
    await turn();
    world.clock.nowMs += HOLD_SECONDS * 1000 - 1;
    expect(await turn()).toEqual({ kind: 'hold-back' });
    world.clock.nowMs += 1;
    expect(await turn()).toEqual({ kind: 'publish', scope: 'marked-markets' });
    expect([...machine.executions.keys()]).toEqual(['m']);
  });

  test('goes on with the rest when the state machine cannot be asked, and keeps why', async () => {
    await markEverything(world, 'm');
    const fault = new Error('no route');
    const refused = await takeTurn(world.dependencies, () => Promise.reject(fault), MAX_MARKETS);
    expect(refused).toEqual({ kind: 'not-started', scope: 'marked-markets', fault });
  });

  test('rejects when the ledger does', async () => {
    const ledger = { ...world.ledger, get: () => Promise.reject(new Error('no route')) } as unknown as World['ledger'];
    await expect(takeTurn({ ...world.dependencies, ledger }, machine.start, MAX_MARKETS)).rejects.toThrow();
  });
});

describe('an execution', () => {
  test('that runs to its end takes the mark with it, and publications go on', async () => {
    await markEverything(world, 'm');
    await turn();
    await runs(await plan());
    machine.end('m');
    expect(await markOf(world)).toBeNull();
    expect((await turn()).kind).toBe('publish');
    expect([...machine.executions.keys()]).toEqual(['m']);
  });

  test('that has failed is followed by others, and then by a person; the rest is published', async () => {
    await markEverything(world, 'm');
    const names: string[] = [];
    for (let execution = 0; execution < EXECUTIONS_OF_A_MARK; execution++) {
      expect(await turn()).toEqual({ kind: 'hold-back' });
      names.push([...machine.executions.keys()].at(-1) as string);
      const { republish } = await plan();
      await abandonRepublish(world.dependencies, republish);
      machine.end(names.at(-1) as string);
    }
    expect(names).toEqual(['m', 'm-2', 'm-3']);
    expect(await turn()).toEqual({ kind: 'given-up', scope: 'marked-markets', cause: 'm' });
    expect([...machine.executions.keys()]).toEqual(names);
  });

  test('is started for a mark that is set anew after all that', async () => {
    await markEverything(world, 'm');
    for (const name of ['m', 'm-2', 'm-3']) machine.end(name);
    await markEverything(world, 'n');
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect(machine.executions.get('n')).toMatchObject({ kind: 'running' });
  });

  test('that was superseded by a publication under way is started again, and succeeds', async () => {
    await markEverything(world, 'm');
    await turn();
    const planned = await plan();
    await changeWithoutMark();
    await publish(world.dependencies, 'marked-markets');
    await expect(runs(planned)).rejects.toThrow();
    await abandonRepublish(world.dependencies, planned.republish);
    machine.end('m');
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual(['m', 'm-2']);
    await runs(await plan());
    expect(await markOf(world)).toBeNull();
  });

  test('that failed in applying is followed by one that takes up what is left, and the mark with it', async () => {
    await markEverything(world, 'm');
    await turn();
    const planned = await left();
    machine.end('m');
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect(machine.executions.size).toBe(1);
    world.clock.nowMs += HOLD_SECONDS * 1000;
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual(['m', planned.republish]);
    expect(await plan()).toEqual(planned);
    await runs(planned);
    expect(await markOf(world)).toBeNull();
  });

  test('that has its mark set again while it runs leaves that mark, which starts one of its own', async () => {
    await markEverything(world, 'm');
    await turn();
    const planned = await plan();
    await markEverything(world, 'n');
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual(['m']);
    await render(planned);
    await commitRepublish(world.dependencies, planned.republish);
    await applyAndEnd(planned);
    machine.end('m');
    expect(await markOf(world)).toBe('n');
    await turn();
    expect([...machine.executions.keys()]).toEqual(['m', 'n']);
  });

  test('is not followed by another when the mark went with it after it was read', async () => {
    await markEverything(world, 'm');
    machine.end('m');
    const start: StartExecution = async (name) => {
      const clear = { kind: 'delete', key: DIRTY_EVERYTHING_KEY, if: { kind: 'any' } } as const;
      await world.ledger.transact([clear], { attemptId: `clear ${name}` });
      return await machine.start(name);
    };
    expect(await takeTurn(world.dependencies, start, MAX_MARKETS)).toEqual({
      kind: 'publish',
      scope: 'marked-markets',
    });
    expect([...machine.executions.keys()]).toEqual(['m']);
  });
});

describe('a republish that was left when it had swapped HEAD, whoever started it', () => {
  test('is taken up by one execution, named after it, however many see it', async () => {
    const planned = await left();
    world.clock.nowMs += HOLD_SECONDS * 1000;
    for (const each of await Promise.all([turn(), turn(), turn()])) expect(each).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual([planned.republish]);
    expect(await plan()).toEqual(planned);
    await applyAndEnd(planned);
    machine.end(planned.republish);
    expect(await turn()).toEqual({ kind: 'publish', scope: 'marked-markets' });
    expect(machine.executions.size).toBe(1);
  });

  test('is applied by a publication where there are few markets', async () => {
    await left();
    world.clock.nowMs += HOLD_SECONDS * 1000;
    const outcome = await takeTurn(world.dependencies, machine.start, SLUGS.length);
    expect(outcome.kind).toBe('publish');
    expect(machine.executions.size).toBe(0);
  });

  test('comes before a mark, which starts an execution of its own afterwards', async () => {
    const planned = await left();
    await markEverything(world, 'n');
    world.clock.nowMs += HOLD_SECONDS * 1000;
    await turn();
    expect(await plan()).toEqual(planned);
    await applyAndEnd(planned);
    machine.end(planned.republish);
    expect(await turn()).toEqual({ kind: 'hold-back' });
    expect([...machine.executions.keys()]).toEqual([planned.republish, 'n']);
  });

  test('is given up after as many executions as a mark is', async () => {
    const planned = await left();
    const names: string[] = [];
    for (let execution = 0; execution < EXECUTIONS_OF_A_MARK; execution++) {
      world.clock.nowMs += HOLD_SECONDS * 1000;
      expect(await turn()).toEqual({ kind: 'hold-back' });
      names.push([...machine.executions.keys()].at(-1) as string);
      await plan();
      machine.end(names.at(-1) as string);
    }
    const { republish } = planned;
    expect(names).toEqual([republish, `${republish}-2`, `${republish}-3`]);
    world.clock.nowMs += HOLD_SECONDS * 1000;
    expect(await turn()).toEqual({ kind: 'given-up', scope: 'marked-markets', cause: republish });
  });

  test('needs no execution once a publication has applied it, nor one that has not swapped HEAD', async () => {
    await left();
    await publish(world.dependencies, 'marked-markets');
    await plan();
    world.clock.nowMs += HOLD_SECONDS * 1000;
    expect((await turn()).kind).toBe('publish');
    expect(machine.executions.size).toBe(0);
  });
});
