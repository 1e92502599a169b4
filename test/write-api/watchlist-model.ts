/** A sequential model of watchlists, in which nothing is lost. */
import { decodeTime } from 'ulid';
import type { Answer, Call } from './world.ts';

/** A request, all of it: two sends of one request are copies. */
export interface Request {
  /** As the world's `as`. */
  readonly actor: string;
  readonly key: string;
  readonly action: 'create' | 'replace' | 'delete' | 'add' | 'remove';
  /** Of the watchlist; of no meaning to `create`. */
  readonly id: string;
  readonly name: string;
  /** The one market of `add` and `remove` is the first. */
  readonly markets: readonly [string, ...string[]];
  /** Of no meaning to `create`; null only for `add` and `remove`. */
  readonly ifMatch: string | null;
}

interface Watchlist {
  readonly id: string;
  readonly name: string;
  readonly markets: readonly string[];
  readonly revision: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The parts of an answer that a copy shares. */
export interface Outcome {
  readonly status: number;
  /** Null for 204. */
  readonly body: unknown;
  readonly etag: string | undefined;
  readonly location: string | undefined;
}

export interface Limits {
  readonly watchlists: number;
  readonly items: number;
}

export interface State {
  /** By subject and id. */
  readonly lists: ReadonlyMap<string, Watchlist>;
  /** By actor and key. */
  readonly answers: ReadonlyMap<string, { readonly request: string; readonly outcome: Outcome }>;
  /** By subject. */
  readonly limits: ReadonlyMap<string, Limits>;
}

export const EXISTING_MARKETS: readonly string[] = ['gold-usd', 'silver-usd', 'tin-usd'];

const URL = '/api/v1/watchlists';

export function subjectOf(actor: string): string {
  const [account, key] = actor.split('/');
  return key === undefined ? `user:${actor}` : `account:${account}`;
}

export function auditActorOf(actor: string): string {
  const [, key] = actor.split('/');
  return key === undefined ? `user:${actor}` : `key:${key}`;
}

export function callOf({ actor, key, action, id, name, markets, ifMatch }: Request): Call {
  const common = { as: actor, key, headers: action === 'create' || ifMatch === null ? {} : { 'if-match': ifMatch } };
  const path = `${URL}/${id}`;
  const body = { name, markets };
  switch (action) {
    case 'create':
      return { ...common, method: 'POST', path: URL, body };
    case 'replace':
      return { ...common, method: 'PUT', path, body };
    case 'delete':
      return { ...common, method: 'DELETE', path };
    case 'add':
      return { ...common, method: 'PUT', path: `${path}/markets/${markets[0]}` };
    case 'remove':
      return { ...common, method: 'DELETE', path: `${path}/markets/${markets[0]}` };
  }
}

export function outcomeOf({ status, json, headers: { etag, location } }: Answer): Outcome {
  return { status, body: json, etag, location };
}

export const listOf = (subject: string, id: string): string => `${subject} ${id}`;
export const keyOf = ({ actor, key }: Request): string => `${actor} ${key}`;
/** Requests are the same when they are sent as the same. */
export const nameOf = (request: Request): string => JSON.stringify(callOf(request));

/** An answer to a request whose key was used; null while it is free. */
export function earlier(state: State, request: Request): Outcome | 'idempotency-key-reused' | null {
  const answered = state.answers.get(keyOf(request));
  if (answered === undefined) return null;
  return answered.request === nameOf(request) ? answered.outcome : 'idempotency-key-reused';
}

/** The codes of every reason to refuse a request whose key is free. */
export function refusals(state: State, request: Request): readonly string[] {
  const { actor, action, id, markets, ifMatch } = request;
  const subject = subjectOf(actor);
  const limits = state.limits.get(subject) as Limits;
  const list = state.lists.get(listOf(subject, id));
  const codes: string[] = [];
  if (action !== 'create') {
    if (list === undefined) codes.push('not-found');
    else if (!matches(ifMatch, list.revision)) codes.push('precondition-failed');
  }
  if (action === 'create' && countOf(state, subject) + 1 > limits.watchlists) codes.push('quota-exceeded');
  const after = marketsAfter(request, list);
  const isNoChange = list !== undefined && isUnchanged(request, list);
  if (action !== 'remove' && !isNoChange && after.length > limits.items) codes.push('quota-exceeded');
  const before = action === 'add' ? (list?.markets ?? []) : [];
  const added = action === 'add' ? markets.slice(0, 1) : action === 'remove' || action === 'delete' ? [] : markets;
  if (added.some((slug) => !before.includes(slug) && !EXISTING_MARKETS.includes(slug))) codes.push('validation-failed');
  return codes;
}

/** The state after an accepted request, and its answer. `id` names the new resource. */
export function commit(
  state: State,
  request: Request,
  { id, now }: { readonly id: string; readonly now: string },
): { readonly state: State; readonly outcome: Outcome } {
  const { actor, action, name } = request;
  const subject = subjectOf(actor);
  const lists = new Map(state.lists);
  const before = lists.get(listOf(subject, id));
  let outcome: Outcome = { status: 204, body: null, etag: undefined, location: undefined };
  if (action === 'delete') {
    lists.delete(listOf(subject, id));
  } else if (before !== undefined && isUnchanged(request, before)) {
    outcome = { status: 200, body: before, etag: `"${before.revision}"`, location: undefined };
  } else {
    const revision = (before?.revision ?? 0) + 1;
    const list: Watchlist = {
      id,
      name: action === 'create' || action === 'replace' ? name : (before?.name ?? ''),
      markets: marketsAfter(request, before),
      revision,
      createdAt: new Date(decodeTime(id.slice(3))).toISOString(),
      updatedAt: now,
    };
    lists.set(listOf(subject, id), list);
    const isNew = action === 'create';
    const location = isNew ? `${URL}/${id}` : undefined;
    outcome = { status: isNew ? 201 : 200, body: list, etag: `"${revision}"`, location };
  }
  const answers = new Map(state.answers).set(keyOf(request), { request: nameOf(request), outcome });
  return { state: { ...state, lists, answers }, outcome };
}

export function countOf({ lists }: State, subject: string): number {
  return [...lists.keys()].filter((name) => name.startsWith(`${subject} `)).length;
}

function marketsAfter({ action, markets }: Request, list: Watchlist | undefined): readonly string[] {
  const [slug] = markets;
  const before = list?.markets ?? [];
  if (action === 'remove') return before.filter((each) => each !== slug);
  if (action === 'add') return before.includes(slug) ? before : [...before, slug];
  return action === 'delete' ? [] : markets;
}

/** A market that is on the list already is not added, one that is not is not removed, and no list replaces itself. */
export function isUnchanged(request: Request, { name, markets }: Pick<Watchlist, 'name' | 'markets'>): boolean {
  const { action } = request;
  const [slug] = request.markets;
  if (action === 'replace') return request.name === name && String(request.markets) === String(markets);
  if (action === 'add') return markets.includes(slug);
  return action === 'remove' && !markets.includes(slug);
}

function matches(ifMatch: string | null, revision: number): boolean {
  return ifMatch === null || ifMatch === '*' || ifMatch.split(', ').includes(`"${revision}"`);
}
