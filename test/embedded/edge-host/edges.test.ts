/** What the core does when edges end, with edges that are scripted. */
import { expect, test } from 'vitest';
import { ReadCounts } from '../../../embedded/edge/read-counts.ts';
import { startEdges } from '../../../embedded/edge-host/edges.ts';
import type { Channel } from '../../../embedded/edge-host/link.ts';
import type { Spawned } from '../../../embedded/edge-host/spawn.ts';

interface Call {
  readonly kind: string;
  readonly id: number;
  readonly name: string;
}

const SETTINGS = {
  host: '127.0.0.1',
  port: 0,
  objectsFolder: '',
  uploadsFolder: '',
  proxies: [],
  isMeasured: false,
};

/** Edges that answer every call. `isBroken`: they end at the first. `hangs`: they do not say that they are there. */
function scripted(count: number) {
  const state = { isBroken: false, hangs: false, nowMs: 0, cpuSeconds: 0 };
  let look: () => Promise<void> = async () => {};
  const pausesMs: number[] = [];
  const faults: string[] = [];
  const live: { readonly asked: string[]; kill(): void }[] = [];

  function spawn(): Spawned {
    let [ended, gone, take]: [(why: string) => void, () => void, (message: unknown) => void] = [
      () => {},
      () => {},
      () => {},
    ];
    const asked: string[] = [];
    const kill = () => {
      live.splice(live.indexOf(self), 1);
      gone();
      ended('killed');
    };
    const self = { asked, kill };
    live.push(self);
    const answers: Readonly<Record<string, unknown>> = {
      open: { baseUrl: 'http://e', port: 80 },
      get measure() {
        return { delays: [], usage: { startedAtMs: 0, residentBytes: 1_000, cpuSeconds: state.cpuSeconds } };
      },
    };
    const channel: Channel = {
      send(message) {
        const { id, name } = message as Call;
        asked.push(name);
        const failure = { kind: 'other', message: 'not answered in time' };
        if (state.isBroken) queueMicrotask(kill);
        else if (state.hangs && name === 'ping') take({ kind: 'failure', id, failure });
        else take({ kind: 'answer', id, value: answers[name] ?? null });
      },
      listen(taken, left) {
        [take, gone] = [taken, left];
      },
    };
    return {
      channel,
      processId: null,
      onEnded: (call) => {
        ended = call;
      },
      kill,
      end: async () => {},
    };
  }

  const edges = startEdges(
    count,
    { info: () => {}, fault: (what) => faults.push(what) },
    {
      spawn,
      nowMs: () => state.nowMs,
      pause: async (durationMs) => {
        pausesMs.push(durationMs);
        await turn();
      },
      every: (_intervalMs, call) => {
        look = call;
        return () => {
          look = async () => {};
        };
      },
    },
  );
  const open = () =>
    edges.open(SETTINGS, {
      health: async () => ({ healthy: true, body: {} }),
      noteDamage: () => {},
      reads: new ReadCounts(),
    });
  const ready = () =>
    edges.ready({
      terms: { uploadKey: new Uint8Array(), resources: new Set() },
      answerWrite: () => Promise.reject(new Error('no writes here')),
      onCommitted: () => {},
      mayReceive: async () => false,
      onStored: async () => {},
      removePartial: async () => {},
    });
  return { edges, state, pausesMs, faults, live, open, ready, look: () => look() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('an edge that ends is started again, told the port, and told that it may serve', async () => {
  const { edges, faults, live, open, ready } = scripted(2);
  expect(await open()).toBe('http://e');
  await ready();
  expect(edges.serving()).toBe(2);
  live[0]?.kill();
  expect(edges.serving()).toBe(1);
  await turn();
  await turn();
  expect(edges.serving()).toBe(2);
  expect(live.map(({ asked }) => asked)).toEqual([
    ['open', 'ready'],
    ['open', 'ready'],
  ]);
  expect(faults).toHaveLength(1);
});

test('an edge that has served well is started again at once; one that keeps ending, later and later', async () => {
  const { state, pausesMs, live, open, ready } = scripted(2);
  await open();
  await ready();
  for (const servedMs of [60_000, 0, 0, 0, 60_000]) {
    state.nowMs += servedMs;
    live.at(-1)?.kill();
    await turn();
    await turn();
  }
  expect(pausesMs).toEqual([0, 100, 200, 400, 0]);
});

test('an edge that has not answered three times in a row is ended, and started again', async () => {
  const { edges, state, faults, live, open, ready, look } = scripted(1);
  await open();
  await ready();
  const [first] = live;
  state.hangs = true;
  await look();
  await look();
  state.hangs = false;
  await look();
  state.hangs = true;
  await look();
  await look();
  expect([faults, live[0]]).toEqual([[], first]);
  await look();
  await turn();
  await turn();
  expect(faults).toHaveLength(2);
  expect(live[0]).not.toBe(first);
  expect(edges.serving()).toBe(1);
});

test('it is lost only when no edge serves and none can be started', async () => {
  const { edges, state, pausesMs, live, open, ready } = scripted(2);
  let lost: Error | null = null;
  void edges.lost.then((error) => {
    lost = error;
  });
  await open();
  await ready();
  state.isBroken = true;
  live[0]?.kill();
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(lost).toBeNull();
  expect(pausesMs.length).toBeGreaterThan(20);
  expect(Math.max(...pausesMs)).toBe(10_000);
  live[0]?.kill();
  await expect(edges.lost).resolves.toBeInstanceOf(Error);
});

test('the processor time of a place never falls, also when a new process takes it', async () => {
  const { edges, state, live, open, ready } = scripted(2);
  await open();
  await ready();
  const measured = async () =>
    (await edges.measure()).processes.map(({ name, usage, cpuSeconds }) => [name, usage?.cpuSeconds, cpuSeconds]);
  state.cpuSeconds = 7;
  expect(await measured()).toEqual([
    ['edge-1', 7, 7],
    ['edge-2', 7, 7],
  ]);
  live[0]?.kill();
  expect((await measured())[0]).toEqual(['edge-1', undefined, 7]);
  await turn();
  await turn();
  state.cpuSeconds = 1;
  expect(await measured()).toEqual([
    ['edge-1', 1, 8],
    ['edge-2', 1, 1],
  ]);
});

test('a stop asks every edge, and starts none again', async () => {
  const { edges, live, open, ready } = scripted(2);
  await open();
  await ready();
  const stopped = edges.stop();
  expect(live.map(({ asked }) => asked.at(-1))).toEqual(['stop', 'stop']);
  live[0]?.kill();
  await stopped;
  await turn();
  expect(live).toHaveLength(1);
});
