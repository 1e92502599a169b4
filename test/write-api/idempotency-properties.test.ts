/**
 * Clients send requests and copies of them to two processes at once, while calls of the ledger are delayed in any order and
 * lose their requests and answers. The result must equal a sequential execution: each commit follows from the state before
 * it, and each refusal and each replay from a state during its request.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { ItemKey, Ledger } from '../../storage/ports/ledger.ts';
import {
  answersOf,
  type EntitlementsValue,
  entitlementsKey,
  usageKey,
  watchlistsOf,
} from '../../storage/records/accounts.ts';
import { type AuditValue, auditOfActor, auditOfTarget } from '../../storage/records/audit.ts';
import { ENGINES, type Engine } from './engines.ts';
import { grant, seedMarkets } from './seeds.ts';
import { type Commit, type Fate, type WatchedLedger, watchLedger } from './watched-ledger.ts';
import {
  auditActorOf,
  callOf,
  commit,
  countOf,
  EXISTING_MARKETS,
  earlier,
  isUnchanged,
  type Limits,
  listOf,
  nameOf,
  outcomeOf,
  type Request,
  refusals,
  type State,
  subjectOf,
} from './watchlist-model.ts';
import { type Answer, type ApiWorld, openApiWorld } from './world.ts';

// Few of each, so that they conflict. Two API keys are two actors with one subject.
const ACTORS = ['alice', 'acme/k1', 'acme/k2'] as const;
const SUBJECTS = ['user:alice', 'account:acme'] as const;
const NOBODYS_ID = 'wl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const LIMITS: Limits = { watchlists: 3, items: 2 };

/** A request before the ids of the watchlists are known. */
type Draft = Omit<Request, 'id'> & { readonly list: 0 | 1 | 2 };

type Step =
  | { readonly do: 'send'; readonly draft: number }
  | { readonly do: 'grant'; readonly subject: string; readonly limits: Limits };

interface Client {
  readonly process: 0 | 1;
  readonly steps: readonly Step[];
}

const markets = fc
  .uniqueArray(fc.constantFrom(...EXISTING_MARKETS, 'ghost-usd'), { minLength: 1, maxLength: 3 })
  .map((slugs) => slugs as [string, ...string[]]);

const draft: fc.Arbitrary<Draft> = fc
  .record({
    actor: fc.constantFrom(...ACTORS),
    key: fc.constantFrom('key-0000000000001', 'key-0000000000002', 'key-0000000000003'),
    action: fc.constantFrom('create', 'replace', 'delete', 'add', 'remove'),
    list: fc.constantFrom(0, 0, 1, 1, 2),
    name: fc.constantFrom('One', 'Two'),
    markets,
    ifMatch: fc.constantFrom('"1"', '*', '"2"', '"3", "2"', 'W/"1"', null),
  })
  .map((each) => {
    const mayLackIfMatch = each.action === 'add' || each.action === 'remove';
    return { ...each, ifMatch: mayLackIfMatch ? each.ifMatch : (each.ifMatch ?? '*') } as Draft;
  });

const plan = fc.array(draft, { minLength: 1, maxLength: 7 }).chain((drafts) => {
  const send = fc.record({ do: fc.constant('send' as const), draft: fc.nat({ max: drafts.length - 1 }) });
  const change = fc.record({
    do: fc.constant('grant' as const),
    subject: fc.constantFrom(...SUBJECTS),
    limits: fc.record({ watchlists: fc.integer({ min: 0, max: 4 }), items: fc.integer({ min: 0, max: 3 }) }),
  });
  const step = fc.oneof({ weight: 8, arbitrary: send }, { weight: 1, arbitrary: change });
  const client = fc.record({
    process: fc.constantFrom(0 as const, 1 as const),
    steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  });
  return fc.record({ drafts: fc.constant(drafts), clients: fc.array(client, { minLength: 2, maxLength: 5 }) });
});

const fates = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Fate>('answered') },
    { weight: 1, arbitrary: fc.constant<Fate>('lost-request') },
    { weight: 1, arbitrary: fc.constant<Fate>('lost-answer') },
  ),
  { maxLength: 24 },
);

/** More than the number of fates, so that every request is answered in the end. */
const MAX_SENDS = 30;

/** One sending of a request. `from` and `to`: the number of commits at its start and at its answer. */
interface Sent {
  readonly request: Request;
  readonly requestId: string;
  readonly answer: Answer;
  readonly from: number;
  readonly to: number;
}

describe.each(ENGINES)('on %s', (_engine, open) => {
  it('every write has its effect once or not at all, as if it were alone', async () => {
    await fc.assert(
      fc.asyncProperty(plan, fates, fc.scheduler(), async ({ drafts, clients }, fateList, scheduler) => {
        const engine = await open();
        try {
          const start = await prepare(engine);
          const commits: Commit[] = [];
          const rest = [...fateList];
          const ledgers = engine.ledgers.map((ledger) =>
            watchLedger(ledger, {
              commits,
              fateOf: () => rest.shift() ?? 'answered',
              delay: (what) => scheduler.schedule(Promise.resolve(), what),
            }),
          );
          const requests = drafts.map(({ list, ...each }): Request => ({ ...each, id: start.ids[list] as string }));
          const sent = await scheduler.waitFor(run(clients, requests, ledgers, commits));
          const end = checkHistory(start.state, commits, sent);
          await checkLedger(engine.ledgers[0], end, commits);
        } finally {
          await engine.close();
        }
      }),
      { numRuns: 20 },
    );
  });
});

/** Markets, limits, and a watchlist of each subject. */
async function prepare({ ledgers: [ledger] }: Engine): Promise<{ state: State; ids: readonly string[] }> {
  await seedMarkets(ledger, ...EXISTING_MARKETS);
  const world = openApiWorld({ ledger, process: 'before' });
  let state: State = {
    lists: new Map(),
    answers: new Map(),
    limits: new Map(SUBJECTS.map((subject) => [subject, LIMITS])),
  };
  const ids: string[] = [];
  for (const actor of ['alice', 'acme/k1']) {
    await grant(ledger, subjectOf(actor), { watchlists: LIMITS.watchlists, 'watchlist-items': LIMITS.items });
    const request: Request = {
      actor,
      key: 'key-0000000000000',
      action: 'create',
      id: '',
      name: 'First',
      markets: ['gold-usd'],
      ifMatch: null,
    };
    const { json } = await world.call(callOf(request));
    ids.push(json.id);
    state = commit(state, request, { id: json.id, now: json.updatedAt }).state;
  }
  return { state, ids: [...ids, NOBODYS_ID] };
}

/** Each client sends its requests in order, and sends unanswered ones again. */
async function run(
  clients: readonly Client[],
  requests: readonly Request[],
  watched: readonly WatchedLedger[],
  commits: readonly Commit[],
): Promise<readonly Sent[]> {
  const worlds = watched.map((ledger, index) => openApiWorld({ ledger, process: `process-${index}` }));
  const sent: Sent[] = [];

  async function send(world: ApiWorld, request: Request): Promise<void> {
    for (let sends = 0; ; sends++) {
      expect(sends).toBeLessThan(MAX_SENDS);
      world.nowMs += 1;
      const event = world.eventOf(callOf(request));
      const from = commits.length;
      const { statusCode, headers, body = '' } = await world.send(event);
      const answer = { status: statusCode, headers, text: body, json: body === '' ? null : JSON.parse(body) };
      const { requestId } = event.requestContext;
      sent.push({ request, requestId, answer, from, to: commits.length });
      if (statusCode !== 503 && answer.json?.code !== 'contention') return;
    }
  }

  await Promise.all(
    clients.map(async ({ process, steps }) => {
      for (const step of steps) {
        if (step.do === 'send') {
          await send(worlds[process] as ApiWorld, requests[step.draft] as Request);
        } else {
          const { watchlists, items } = step.limits;
          const limits = { watchlists, 'watchlist-items': items };
          // A lost grant is not repeated.
          await grant(watched[process] as Ledger, step.subject, limits).catch(() => {});
        }
      }
    }),
  );
  return sent;
}

/** Replays the commits in the model. Returns the final state. */
function checkHistory(start: State, commits: readonly Commit[], sent: readonly Sent[]): State {
  const states = [start];
  const byId = new Map(sent.map((each) => [each.requestId, each]));
  const done = new Set<string>();
  for (const { changes } of commits) {
    const state = states.at(-1) as State;
    const audits = changes.flatMap((change) =>
      change.kind === 'put' && change.key.partition.startsWith('audit/') ? [change.value as AuditValue] : [],
    );
    const stored = changes.find(({ key }) => key.partition.startsWith('idempotency/'));
    if (stored === undefined) {
      states.push(granted(state, changes[0] as Commit['changes'][number]));
      continue;
    }
    const [audit = unaudited(sent, stored.key)] = audits;
    expect(audits).toEqual(Array(audits.length === 0 ? 0 : 3).fill(audit));
    const one = byId.get(audit.requestId) as Sent;
    const { request, answer } = one;
    const list = state.lists.get(listOf(subjectOf(request.actor), request.id));
    expect(audits.length === 0).toBe(list !== undefined && isUnchanged(request, list));
    expect(earlier(state, request)).toBeNull();
    expect(refusals(state, request)).toEqual([]);
    const next = commit(state, request, { id: audit.target.replace('watchlist/', ''), now: audit.at });
    states.push(next.state);
    done.add(audit.requestId);
    // Unanswered requests prove nothing. All answers must hold.
    if (answer.status !== 503) expect(outcomeOf(answer)).toEqual(next.outcome);
  }
  for (const { request, requestId, answer, from, to } of sent) {
    if (answer.status === 503 || answer.json?.code === 'contention') continue;
    const isReplay = answer.headers['idempotency-replayed'] === 'true';
    if (answer.status < 300 && !isReplay) {
      expect(done).toContain(requestId);
      continue;
    }
    expect(done).not.toContain(requestId);
    const admitted = states.slice(from, to + 1).some((state) => {
      const before = earlier(state, request);
      if (before === null) return !isReplay && refusals(state, request).includes(answer.json.code);
      return typeof before === 'string' ? answer.json?.code === before : isReplay && isEqual(outcomeOf(answer), before);
    });
    expect(admitted, `${request.action}: ${answer.status} ${answer.text}`).toBe(true);
  }
  checkCopies(sent);
  return states.at(-1) as State;
}

/** A write that changes nothing has no audit record. One of the copies with its key has committed it. */
function unaudited(
  sent: readonly Sent[],
  { partition, sort }: ItemKey,
): Pick<AuditValue, 'requestId' | 'target' | 'at'> {
  const copies = sent.filter(
    ({ request }) => request.key === sort && answersOf(auditActorOf(request.actor)).partition === partition,
  );
  const answered = copies.find(
    ({ answer }) => answer.status < 300 && answer.headers['idempotency-replayed'] === undefined,
  );
  const { request, requestId } = answered ?? (copies.find(({ answer }) => answer.status === 503) as Sent);
  return { requestId, target: `watchlist/${request.id}`, at: '' };
}

function granted(state: State, change: Commit['changes'][number]): State {
  const subject = SUBJECTS.find((each) => entitlementsKey(each).partition === change.key.partition) as string;
  const { features } = (change as { readonly value: Json }).value as EntitlementsValue;
  const limits: Limits = {
    watchlists: features.watchlists?.limit as number,
    items: features['watchlist-items']?.limit as number,
  };
  return { ...state, limits: new Map(state.limits).set(subject, limits) };
}

/** All acknowledgements of one request are the same bytes. */
function checkCopies(sent: readonly Sent[]): void {
  const acknowledged = sent.filter(({ answer }) => answer.status < 300);
  for (const copies of Map.groupBy(acknowledged, ({ request }) => nameOf(request)).values()) {
    expect(new Set(copies.map(({ answer }) => answer.text)).size).toBe(1);
    expect(new Set(copies.map(({ answer }) => JSON.stringify(outcomeOf(answer)))).size).toBe(1);
  }
}

/** The ledger equals the model, with one audit record and one idempotency record for each effect. */
async function checkLedger(ledger: Ledger, end: State, commits: readonly Commit[]): Promise<void> {
  const all = async (partition: string) => (await ledger.query(partition, { limit: 1000 })).items;
  for (const subject of SUBJECTS) {
    const items = await all(watchlistsOf(subject).partition);
    const stored = items.map(({ sort, revision, value }) => [
      listOf(subject, sort),
      { revision, ...(value as object) },
    ]);
    const expected = [...end.lists].filter(([name]) => name.startsWith(`${subject} `));
    expect(Object.fromEntries(stored)).toEqual(
      Object.fromEntries(expected.map(([name, { id, createdAt, ...rest }]) => [name, rest])),
    );
    expect((await ledger.get(usageKey(subject, 'watchlists', null)))?.value).toBe(countOf(end, subject));
  }
  const targets = new Set<string>();
  for (const actor of ACTORS) {
    const keys = [...end.answers.keys()].filter((name) => name.startsWith(`${actor} `));
    const idempotency = await all(answersOf(auditActorOf(actor)).partition);
    expect(idempotency.map(({ sort }) => `${actor} ${sort}`)).toEqual(keys.sort());
    const audit = await all(auditOfActor(auditActorOf(actor)).partition);
    expect(audit.length).toBeLessThanOrEqual(keys.length);
    for (const { value } of audit) targets.add((value as AuditValue).target);
  }
  const byTarget = await Promise.all([...targets].map((target) => all(auditOfTarget(target).partition)));
  const audited = commits.filter(({ changes }) => changes.some(({ key }) => key.partition.startsWith('audit/target/')));
  // With those of the two initial watchlists.
  expect(byTarget.flat()).toHaveLength(audited.length + 2);
  const writes = commits.filter(({ changes }) => changes.some(({ key }) => key.partition.startsWith('idempotency/')));
  expect(writes).toHaveLength(end.answers.size - 2);
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value) || value === null || typeof value !== 'object') return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, each]) => [name, sorted(each)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}
