/** Sources over the write API in memory: a source that answers as it is told, a runner of runs, and a worker. */
import type { SourceRun, SourceState } from '../../contract/operations/sources.ts';
import type { FetchAnswer, FetchRequest } from '../../lambdas/sources/fetch/fetch-source.ts';
import type { SourceDependencies } from '../../lambdas/sources/run/dependencies.ts';
import { type RoundDone, runDueSources } from '../../lambdas/sources/run/run-due.ts';
import type { RunPool } from '../../lambdas/sources/run/run-pool.ts';
import { idsBy } from '../../storage/aws/runtime.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { MARKET_INDEX, observationsOf } from '../../storage/records/markets.ts';
import { workOff } from '../ingest/work-off.ts';
import { type MemoryArchive, openMemoryArchive } from '../storage/memory-archive.ts';
import { heldToSchemas } from '../write-api/held-to-schemas.ts';
import { type Answer, type ApiWorld, openApiWorld, seededBytes } from '../write-api/world.ts';
import { EXAMPLE_RECIPE } from './example-recipe.ts';

export interface SourceWorld {
  readonly api: ApiWorld;
  readonly archive: MemoryArchive;
  /** Of the runner: tests may let them fail. */
  readonly ports: SourceDependencies;
  /** Every request to the source, in order. */
  readonly requests: FetchRequest[];
  /** The next answers; the last one stays. */
  answers: (FetchAnswer | Error)[];
  /** Faults that are not those of sources or storage. */
  readonly failures: unknown[];
  /** The ids of the runs that processes have told to have ended. */
  readonly ended: string[];
  /** Sends the recipe, and gives the answer. */
  add(recipe?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  ask(body?: object): Promise<SourceRun>;
  /** Asks for a run, and lets it end. */
  run(body?: object): Promise<SourceRun>;
  replay(run: string): Promise<SourceRun>;
  /** One round of a process, with other ports if they are given, and with a pool that outlives the round. */
  round(other?: Partial<SourceDependencies>, pool?: RunPool, patience?: () => Promise<void>): Promise<RoundDone>;
  work(): Promise<void>;
  /** Rounds and work, until the clock must move on. */
  settle(): Promise<void>;
  runs(): Promise<readonly SourceRun[]>;
  state(): Promise<SourceState>;
  /** `market day amount`, of every observation, superseded ones too. */
  observations(): Promise<readonly string[]>;
  /** `metric day value`, or the reason of an unknown value, of each observation of a market. */
  history(slug: string): Promise<readonly string[]>;
}

export function ok(bytes: Uint8Array, more: Partial<Extract<FetchAnswer, { kind: 'answer' }>> = {}): FetchAnswer {
  return { kind: 'answer', bytes, etag: null, lastModified: null, ...more };
}

export const NOT_MODIFIED: FetchAnswer = { kind: 'not-modified' };

export function failing(code = 'http-503', retryAfterSeconds: number | null = null, isRetryable = true): FetchAnswer {
  return { kind: 'failed', code, detail: 'The source is busy.', isRetryable, retryAfterSeconds };
}

export function openSourceWorld(api: ApiWorld = heldToSchemas(openApiWorld())): SourceWorld {
  const { ledger, uploads } = api;
  const archive = openMemoryArchive();
  const requests: FetchRequest[] = [];
  const failures: unknown[] = [];
  const ended: string[] = [];
  const nowMs = () => api.nowMs;
  const newId = idsBy({ nowMs, randomBytes: seededBytes('runner') });
  let attempts = 0;
  const newAttemptId = () => `runner-${++attempts}`;
  const dependencies: SourceDependencies = {
    ...{ ledger, archive, nowMs, newAttemptId, newId },
    random: () => 0.5,
    owner: 'runner',
    uploads: {
      head: (id) => uploads.head(id),
      async put(id, { bytes, sha256: _ }, read) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of read()) chunks.push(chunk);
        const whole = Buffer.concat(chunks);
        if (whole.length !== bytes) throw new Error('the file is not as it was announced');
        uploads.put(id, whole);
      },
    },
    async ask(request) {
      requests.push(request);
      const [answer] = world.answers.length > 1 ? world.answers.splice(0, 1) : world.answers;
      if (answer === undefined) throw new Error('the source has no answer');
      if (answer instanceof Error) throw answer;
      return answer;
    },
    failed: (_, error) => failures.push(error),
    ended: (_, id) => ended.push(id),
  };
  const call = async (method: string, path: string, body?: object) => {
    const { json } = await api.call({ method, path: `/api/v1/sources/metals${path}`, ...(body && { body }) });
    return json;
  };
  const world: SourceWorld = {
    ...{ api, archive, ports: dependencies, requests, failures, ended },
    answers: [],
    add: (recipe = EXAMPLE_RECIPE, headers = { 'if-none-match': '*' }) =>
      api.call({ method: 'PUT', path: '/api/v1/sources/metals', body: recipe, headers }),
    ask: (body = {}) => call('POST', '/runs', body),
    async run(body) {
      const run = await world.ask(body);
      await world.settle();
      return run;
    },
    replay: (run) => call('POST', `/runs/${run}/replay`),
    round: (other, ...more) => runDueSources({ ...dependencies, ...other }, ...more),
    async work() {
      await workOff({ ledger, uploads, nowMs });
    },
    async settle() {
      for (let rounds = 0; rounds < 4; rounds++) {
        await world.round();
        await world.work();
        api.nowMs += 1_000;
      }
    },
    runs: async () => (await call('GET', '/runs')).data,
    state: async () => (await api.call({ path: '/api/v1/sources' })).json.data[0],
    async observations() {
      const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
      const all = await Promise.all(slugs.map((slug) => readAll(ledger, observationsOf(slug))));
      return all.flatMap((items, index) =>
        items.map(({ value }) => {
          const { observedAt, amountMinor } = value as unknown as { observedAt: string; amountMinor: number | null };
          return `${slugs[index]} ${observedAt.slice(0, 10)} ${amountMinor}`;
        }),
      );
    },
    async history(slug) {
      const items = await readAll(ledger, observationsOf(slug));
      return items.map(({ value: { metric, observedAt, unknownReason, ...others } }) => {
        const number = others.kind === 'money' ? others.amountMinor : others.value;
        return `${metric} ${observedAt.slice(8, 10)} ${number ?? unknownReason}`;
      });
    },
  };
  return world;
}
