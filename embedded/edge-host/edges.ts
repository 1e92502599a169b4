/**
 * The edges of a service: one in a thread, or several in processes that share the port. Processes are started again when
 * they end: see docs/decisions/056-edges-apart.md.
 */
import { randomUUID } from 'node:crypto';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import { createReception } from '../../storage/directory-uploads.ts';
import { systemRuntime } from '../../storage/runtime.ts';
import { DEFAULT_EDGE_LIMITS } from '../edge/limits.ts';
import { takeSharedPort } from '../listen.ts';
import type { Log } from '../log.ts';
import type { ProcessUsage } from '../process-usage.ts';
import { StartError } from '../start-error.ts';
import type { EdgeCalls, EdgeMeasures, EdgeSettings, Listening, LoopDelays } from './calls.ts';
import { type CoreDuties, linkToEdge, type WriteDuties } from './core-side.ts';
import { type Link, LinkGone } from './link.ts';
import { type Spawned, spawnProcess, spawnThread } from './spawn.ts';

export type EdgesSettings = Omit<EdgeSettings, 'isShared' | 'name'>;

export interface EdgesMeasures {
  /** The worst of their event loops since the last call. */
  readonly delays: LoopDelays;
  /** Of each edge that is a process. */
  readonly processes: readonly PlaceUsage[];
}

/** Of the process at one place, and of those before it. */
export interface PlaceUsage {
  /** E.g. `edge-1`. */
  readonly name: string;
  /** Null: it does not answer now. */
  readonly usage: ProcessUsage | null;
  /** Never falls, also when a new process takes the place. */
  readonly cpuSeconds: number;
}

export interface Edges {
  /**
   * Binds the port. Every request but the health check is answered 503 until `ready`.
   *
   * @returns the base URL
   * @throws StartError if the port cannot be bound
   */
  open(settings: EdgesSettings, duties: CoreDuties): Promise<string>;
  /** From here on there are readers. */
  ready(duties: WriteDuties): Promise<void>;
  /** Resolves when all edges have dropped the objects from memory. That takes 20 s if one hangs. */
  purge(targets: PurgeTargets): Promise<void>;
  /** Tells all edges that this object has changed. They hear of it before any answer that is relayed later. */
  outdate(key: string): void;
  /** Brings the counts up to date. */
  measure(): Promise<EdgesMeasures>;
  /** How many answer requests. */
  serving(): number;
  /** Resolves if no edge can be started any more. */
  readonly lost: Promise<Error>;
  /** Closes the port, and each connection after the answer that is on its way: see `EdgeServer.stop`. */
  stop(): Promise<void>;
}

/** For calls that an edge answers at once. */
const DEADLINE_MS = 1_000;
const STOP_DEADLINE_MS = DEFAULT_EDGE_LIMITS.stopGraceMs + DEADLINE_MS;
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 10_000;
/** An edge that has served for this long has started well. */
const SOUND_AFTER_MS = 10_000;
/** An edge that lets so many of these pass without an answer hangs: its clients would wait for as long as it does. */
const ASKED_EVERY_MS = 5_000;
const MOST_MISSED = 3;
/** While no edge serves: about a minute. */
const MOST_FAILURES = 12;

interface Edge {
  readonly name: string;
  readonly spawned: Spawned;
  readonly link: Link<EdgeCalls>;
}

/** The running edge of one place. A new one takes it over when it ends. */
interface Place {
  readonly number: number;
  edge: Edge;
  /** Whether it listens. */
  isOpen: boolean;
  openedAtMs: number;
  /** In a row. */
  failures: number;
  /** Times that it was asked, and did not answer, in a row. */
  missed: number;
  /** As its process, of this edge, has told last. */
  cpuSeconds: number;
  /** Of the processes before it. */
  endedCpuSeconds: number;
}

/** Of the machine; tests have their own. */
export interface EdgesRuntime {
  readonly spawn: () => Spawned;
  readonly pause: (durationMs: number) => Promise<void>;
  /** Calls again and again, until the function that it returns is called. */
  readonly every: (intervalMs: number, call: () => Promise<void>) => () => void;
  /** Never set back; its origin does not matter. */
  readonly nowMs: () => number;
}

/** Starts them at once, so that they load their code beside what the core does first. */
export function startEdges(count: number, { fault: report, info }: Log, runtime: Partial<EdgesRuntime> = {}): Edges {
  const { spawn = count === 1 ? spawnThread : spawnProcess } = runtime;
  const { pause = systemRuntime.pause, nowMs = () => performance.now(), every = inIntervals } = runtime;
  const reception = createReception();
  const lost = Promise.withResolvers<Error>();
  let settings: Omit<EdgeSettings, 'name'> | null = null;
  let duties: CoreDuties | null = null;
  let writeDuties: WriteDuties | null = null;
  let isStopping = false;
  /** Of the newest edge that has ended. */
  let endedBecause = 'it has closed its link';
  let givePortBack = (): void => undefined;

  function newEdge(number: number): Edge {
    const [name, spawned] = [randomUUID(), spawn()];
    const link = linkToEdge(spawned.channel, {
      name,
      duties: () => duties as CoreDuties,
      writeDuties: () => writeDuties as WriteDuties,
      reception,
      report,
    });
    spawned.onEnded((why) => void startAgain(places[number - 1] as Place, why));
    return { name, spawned, link };
  }

  const places = Array.from({ length: count }, (_, index): Place => {
    return {
      number: index + 1,
      edge: newEdge(index + 1),
      isOpen: false,
      openedAtMs: 0,
      failures: 0,
      missed: 0,
      cpuSeconds: 0,
      endedCpuSeconds: 0,
    };
  });

  async function openOne(place: Place): Promise<Listening> {
    const { name, link, spawned } = place.edge;
    const listening = await link.ask('open', { ...(settings as NonNullable<typeof settings>), name });
    if (writeDuties !== null) await link.ask('ready', writeDuties.terms);
    place.isOpen = true;
    place.openedAtMs = nowMs();
    place.missed = 0;
    if (count > 1) info('edge started', { edge: place.number, process: spawned.processId });
    return listening;
  }

  async function startAgain(place: Place, why: string): Promise<void> {
    const isSound = place.isOpen && nowMs() - place.openedAtMs > SOUND_AFTER_MS;
    place.isOpen = false;
    place.endedCpuSeconds += place.cpuSeconds;
    place.cpuSeconds = 0;
    endedBecause = why;
    // Before the port is bound, its end is a fault of the start: see `open`.
    if (isStopping || settings === null || settings.port === 0) return;
    place.failures = isSound ? 0 : place.failures + 1;
    if (place.failures > MOST_FAILURES && !places.some(({ isOpen }) => isOpen)) {
      lost.resolve(new StartError(`No edge process can be started: ${why}`));
      return;
    }
    const delayMs = isSound ? 0 : Math.min(FIRST_DELAY_MS * 2 ** (place.failures - 1), LONGEST_DELAY_MS);
    report(`edge ${place.number} has ended, and is started again`, why);
    await pause(delayMs);
    if (isStopping) return;
    place.edge = newEdge(place.number);
    try {
      await openOne(place);
    } catch (error) {
      // Its end is told to this function.
      if (error instanceof LinkGone) return;
      await place.edge.spawned.end();
      await startAgain(place, (error as Error).message);
    }
  }

  /** Asks all edges. One that has gone, or does not answer in time, is left out. */
  async function askAll<Name extends 'measure' | 'stop'>(
    deadlineMs: number,
    name: Name,
    ...args: Parameters<EdgeCalls[Name]>
  ) {
    const asked = places.map(({ edge }) => edge.link.askWithin(deadlineMs, name, ...args).catch(() => null));
    return await Promise.all(asked);
  }

  /** Ends edges that hang. They are started again, like all that end; of a thread it is the end of the process. */
  async function look(): Promise<void> {
    const asked = places
      .filter(({ isOpen }) => isOpen)
      .map(async (place) => {
        const { link, spawned } = place.edge;
        const isThere = await link.askWithin(ASKED_EVERY_MS, 'ping').then(
          () => true,
          () => false,
        );
        place.missed = isThere ? 0 : place.missed + 1;
        if (isStopping || !place.isOpen || place.missed < MOST_MISSED) return;
        report(
          `edge ${place.number} hangs, and is ended`,
          `it has not answered for ${(MOST_MISSED * ASKED_EVERY_MS) / 1000} s`,
        );
        spawned.kill();
      });
    await Promise.all(asked);
  }
  const stopLooking = every(ASKED_EVERY_MS, look);

  return {
    async open(wanted, given) {
      duties = given;
      if (count > 1 && wanted.port !== 0) givePortBack = await takeSharedPort(wanted);
      settings = { ...wanted, isShared: count > 1 };
      const [first, ...others] = places as [Place, ...Place[]];
      try {
        const { baseUrl, port } = await openOne(first);
        settings = { ...settings, port };
        await Promise.all(others.map(openOne));
        return baseUrl;
      } catch (error) {
        if (error instanceof LinkGone) {
          // The link may close a moment before the process has ended.
          await pause(FIRST_DELAY_MS);
          throw new StartError(`An edge process has ended during the start: ${endedBecause}. Start the service again.`);
        }
        throw error;
      }
    },
    async ready(given) {
      writeDuties = given;
      // One that has just ended is told when it is started again.
      await Promise.all(places.map(({ edge }) => edge.link.ask('ready', given.terms).catch(() => undefined)));
    },
    async purge(targets) {
      // An edge that has ended has forgotten everything. One that hangs is ended: see `look`. So whoever asked for the purge
      // is answered when no edge has the objects any more.
      await Promise.all(places.map(({ edge }) => edge.link.ask('purge', targets).catch(() => undefined)));
    },
    outdate(key) {
      for (const { edge } of places) edge.link.tell('outdate', key);
    },
    async measure() {
      const asked = places.map(({ edge }) => edge);
      const measured = (await askAll(DEADLINE_MS, 'measure')) as (EdgeMeasures | null)[];
      const worst = new Map<string, number>();
      for (const [quantile, seconds] of measured.flatMap((one) => one?.delays ?? [])) {
        worst.set(quantile, Math.max(seconds, worst.get(quantile) ?? 0));
      }
      const processes = places.map((place, index) => {
        // Another one may have its place by now.
        const usage = place.edge === asked[index] && place.isOpen ? (measured[index]?.usage ?? null) : null;
        if (usage !== null) place.cpuSeconds = usage.cpuSeconds;
        return { name: `edge-${place.number}`, usage, cpuSeconds: place.endedCpuSeconds + place.cpuSeconds };
      });
      return { delays: [...worst], processes: count === 1 ? [] : processes };
    },
    serving: () => places.filter(({ isOpen }) => isOpen).length,
    lost: lost.promise,
    async stop() {
      isStopping = true;
      stopLooking();
      if (settings !== null) await askAll(STOP_DEADLINE_MS, 'stop');
      await Promise.all(places.map(({ edge }) => edge.spawned.end()));
      givePortBack();
    },
  };
}

function inIntervals(intervalMs: number, call: () => Promise<void>): () => void {
  const timer = setInterval(() => void call(), intervalMs).unref();
  return () => clearInterval(timer);
}
