/** A whole simulation: the world of a seed, from its beginning to its checks. */
import type { Projection } from '../../contract/files/projections.ts';
import { type Actors, Poll, startActors } from './actors.ts';
import { type BaseWorld, baseWorld } from './base-world.ts';
import { askForPublication, Client, removeOne, sendMany, sendUpload, writeBatches } from './clients.ts';
import { deploy, goBack, tearOneTransaction } from './incidents.ts';
import { Writer } from './model.ts';
import { checkOthers, checkSwept, judge } from './oracle.ts';
import { CALM, type Conditions, drawConditions, Trace } from './processes.ts';
import { FILE_PROJECTIONS } from './published.ts';
import { Random } from './random.ts';
import { edgeReader, followLinks, type Read, storeReader, walkList } from './readers.ts';
import { judgeBusy, judgeEfficiency } from './steady-worlds.ts';
import { PLAIN, type Settings } from './wiring.ts';
import { type Alterations, type Violation, World } from './world.ts';

export const KINDS = ['ordinary', 'torn', 'restored', 'busy', 'workers'] as const;
export type Kind = (typeof KINDS)[number];

export interface Simulation {
  readonly seed: number;
  readonly kind: Kind;
  readonly violation: Violation | null;
  readonly trace: readonly string[];
  readonly operations: number;
}

export interface SimulationOptions extends Alterations {
  readonly keepTrace?: boolean;
  /** Default: drawn from the seed. */
  readonly kind?: Kind;
  /** Override those that are drawn from the seed. */
  readonly conditions?: Partial<Conditions>;
  readonly settings?: Partial<Settings>;
  /** The most batches of a writer in one phase. Default: drawn from the seed. */
  readonly batches?: number;
  /** Default: a few markets, published by the code under test. */
  readonly base?: BaseWorld;
  /** Called when the faults end, and nobody writes any more. */
  readonly settling?: () => void;
}

const HOUR_MS = 60 * 60 * 1000;
/** The greatest numbers. Most worlds are small, because many small ones find more than few large ones. */
const SIZES: readonly (readonly [weight: number, { writers: number; phases: number; batches: number }])[] = [
  [4, { writers: 2, phases: 1, batches: 2 }],
  [3, { writers: 2, phases: 2, batches: 2 }],
  [1, { writers: 3, phases: 3, batches: 3 }],
];

/** Within this many minutes without faults, all work must be finished. */
const SETTLING_POLLS = 60;
/** Within this many minutes, all work that needs no operator must be finished. */
const POLLS_BEFORE_REPAIR = 10;

/** Runs the world of the seed. The same seed, code and options give the same trace. One at a time in a thread. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Simulation> {
  const random = new Random(seed ^ 0x2545f491);
  const drawn = random.weighted<Kind>([
    [80, 'ordinary'],
    [5, 'torn'],
    [12, 'restored'],
    [1, 'busy'],
    [2, 'workers'],
  ]);
  const kind = options.kind ?? drawn;
  const trace = new Trace(options.keepTrace ?? false);
  if (kind === 'workers') {
    const { violation, operations } = await judgeEfficiency(seed, trace, options);
    return { seed, kind, violation, trace: trace.lines, operations };
  }
  if (kind === 'busy') {
    const { violation, operations } = await judgeBusy(seed, trace, options);
    return { seed, kind, violation, trace: trace.lines, operations: operations.performed };
  }
  const conditions = { ...(random.chance(0.1) ? CALM : drawConditions(random)), ...options.conditions };
  const isBasePublished = kind === 'torn' || random.chance(0.9);
  const projections = projectionsOf(seed);
  // In a quarter of the worlds with files, they wait for one another.
  const files = seed % 20 === 5 ? { historyFileBytes: ONE_AT_A_TIME } : {};
  const transactionsAtOnce = seed % 2 === 0 ? 1 : 4;
  const settings = {
    ...PLAIN,
    ...drawSettings(random),
    transactionsAtOnce,
    workersOnlyPoll: seed % 7 === 2,
    projections,
    ...files,
    ...options.settings,
  };
  // Of those with files, some begin with a publication without them.
  const base =
    options.base ?? (await baseWorld(isBasePublished, seed % 3 === 0 ? PLAIN.projections : settings.projections));
  const world = new World(seed, base, conditions, settings, trace, options);
  world.usesPipeline = random.chance(0.2);
  world.note('world', `seed ${seed}`, `${kind} ${JSON.stringify({ ...conditions, ...settings })}`);
  await (kind === 'torn' ? runTorn(world) : runOrdinary(world, kind === 'restored', options));
  if (world.violation === null) await judge(world);
  world.end();
  return { seed, kind, violation: world.violation, trace: trace.lines, operations: world.operations.performed };
}

/** Without a draw, so that the other choices of a seed stay the same. Files cost time, so only some worlds have them. */
function projectionsOf(seed: number): readonly Projection[] {
  const files = seed % 5 === 0 ? FILE_PROJECTIONS : seed % 25 === 1 ? (['recent'] as const) : [];
  return seed % 8 === 0 ? files : ['log', ...files];
}

const ONE_AT_A_TIME: Settings['historyFileBytes'] = 1;

function drawSettings(random: Random): Partial<Settings> {
  return {
    listEverySeconds: random.weighted([
      [3, 0],
      [1, 30],
      [1, 900],
    ]),
    maxMarkedMarkets: random.weighted([
      [3, 100],
      [1, 2],
    ]),
  };
}

async function runOrdinary(
  world: World,
  isRestored: boolean,
  { batches, settling }: Pick<SimulationOptions, 'batches' | 'settling'>,
): Promise<void> {
  if (isRestored) world.ledger.log = [];
  const actors = startActors(world, 2, 2);
  const poll = new Poll(world, actors);
  poll.start();
  const { random } = world;
  const isSwept = random.chance(0.5);
  settleAfter(world, script(world, actors, { isRestored, isPlain: isRestored, batches }), () => {
    settling?.();
    poll.limit(SETTLING_POLLS);
  });
  await world.scheduler.run();
  if (world.violation === null && world.watch.isBodyOld) {
    actors.operator.wake(0);
    poll.limit(SETTLING_POLLS);
    await world.scheduler.run();
  }
  if (world.violation !== null || !isSwept) return;
  // A day later no current object may be swept.
  for (let days = 0; days < 2; days++) {
    world.scheduler.after(26 * HOUR_MS, () => actors.sweeper.wake(0));
    await world.scheduler.run();
  }
  if (world.violation === null) checkSwept(world);
}

/** One market does not add up. All others are published, and a repair restores that market. */
async function runTorn(world: World): Promise<void> {
  const actors = startActors(world, 2, 2);
  const poll = new Poll(world, actors);
  poll.start();
  tearOneTransaction(world);
  settleAfter(world, script(world, actors, { isRestored: false, isPlain: true }), () =>
    poll.limit(POLLS_BEFORE_REPAIR),
  );
  await world.scheduler.run();
  if (world.violation !== null) return;
  if (world.torn.size > 0) {
    checkOthers(world);
    actors.operator.wake(0);
  }
  poll.limit(SETTLING_POLLS);
  await world.scheduler.run();
}

function settleAfter(world: World, script: Promise<void>, settle: () => void): void {
  script.then(
    () => {
      world.note('world', 'faults end');
      world.fates.end();
      settle();
    },
    (error: unknown) => world.fail('simulator', String(error instanceof Error ? error.stack : error)),
  );
}

interface ScriptOptions {
  /** The ledger is restored after one of the phases. */
  readonly isRestored: boolean;
  /** Each batch depends on one market only. */
  readonly isPlain: boolean;
  readonly batches?: number | undefined;
}

/** The clients and readers, in one to three phases, perhaps a day apart. */
async function script(world: World, actors: Actors, { isRestored, isPlain, batches }: ScriptOptions): Promise<void> {
  const { random, scheduler } = world;
  const drawn = random.weighted(SIZES);
  const size = { ...drawn, batches: batches ?? drawn.batches };
  const writersOf = (age: string) =>
    Array.from({ length: random.int(1, size.writers) }, (_, index) => {
      const name = `writer-${index + 1}${age}`;
      return { client: new Client(world, actors, name), writer: new Writer(name, random, world.expected, isPlain) };
    });
  // Chance of its own, so that a world without a removal is the same as before.
  const removals = new Random(world.seed ^ 0x7f4a7c15);
  let writers = writersOf('');
  const edge = random.chance(0.3) ? edgeReader(world, 'edge') : null;
  const phases = random.int(1, size.phases);
  const restoredAfter = isRestored ? random.int(1, phases) : 0;
  for (let phase = 1; phase <= phases; phase++) {
    const busy: Promise<unknown>[] = writers.map(({ client, writer }) =>
      writeBatches(world, client, writer, random.int(1, size.batches), () => random.spread(2, 2_000)),
    );
    if (random.chance(0.15)) busy.push(askForPublication(world, actors));
    if (random.chance(0.1) && phase === 1) busy.push(sendUpload(world, actors, random.int(4, 10)));
    if (random.chance(0.03)) busy.push(sendMany(world, actors, isPlain));
    if (random.chance(0.08)) busy.push(deploy(world, actors));
    if (removals.chance(0.25)) busy.push(removeOne(world, actors, removals));
    if (random.chance(0.4)) actors.sweeper.wake(random.spread(1, 20_000));
    readDuring(world, edge);
    await Promise.all(busy);
    await scheduler.sleep(random.pick([10, 1_000, 60_000, 2 * HOUR_MS, 25 * HOUR_MS]));
    if (phase !== restoredAfter) continue;
    await goBack(world, actors);
    // Earlier writers cannot know the outcome of their writes.
    writers = writersOf('-later');
  }
}

/** The world does not wait for readers. */
function readDuring(world: World, edge: Read | null): void {
  const { random, scheduler } = world;
  const fail = (error: unknown) => world.fail('simulator', String(error instanceof Error ? error.stack : error));
  const longestPauseMs = random.pick([20, 2_000, 5 * HOUR_MS]);
  const pauseMs = () => random.spread(1, longestPauseMs);
  const store = storeReader(world, 'reader');
  const start = async (read: () => Promise<void>) => {
    await scheduler.sleep(random.spread(1, 5_000));
    await read();
  };
  start(() => walkList(world, store, 'reader', pauseMs)).catch(fail);
  if (edge !== null) start(() => walkList(world, edge, 'edge', pauseMs)).catch(fail);
  if (random.chance(0.5)) start(() => followLinks(world, store, 'reader', () => random.spread(1, 2_000))).catch(fail);
}
