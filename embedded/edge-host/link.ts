/**
 * The link between the core and one edge: calls in both directions, over a channel that carries plain data. The same for
 * a thread and for a process.
 *
 * Messages arrive in the order in which they were sent. So an answer that is relayed to a client never overtakes a purge
 * that was sent before it.
 */
import type { Problem } from '../../contract/problems.ts';
import { RefusedRequest } from '../../lambdas/pipeline/handler.ts';
import { StorageUnavailable } from '../../storage/errors.ts';
import { StartError } from '../start-error.ts';

/** One end of a channel that copies what structured clone can copy. */
export interface Channel {
  /** Drops the message if the other end has gone. */
  send(message: unknown): void;
  /** To be called once. `gone` is called, perhaps more than once, when no message can come any more. */
  listen(take: (message: unknown) => void, gone: () => void): void;
}

/** The functions that one side offers to the other. Arguments and results are plain data. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of each call are checked where it is made
export type Calls = Readonly<Record<string, (...args: any[]) => unknown>>;

type Result<Call extends (...args: never[]) => unknown> = Promise<Awaited<ReturnType<Call>>>;

export interface Link<Theirs extends Calls> {
  /** Rejects with the other side's error, or with {@link LinkGone}. Waits for as long as the other side lives. */
  ask<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): Result<Theirs[Name]>;
  /** As `ask`, and rejects with {@link LinkGone} after this time. An answer that comes later is dropped. */
  askWithin<Name extends keyof Theirs & string>(
    deadlineMs: number,
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Result<Theirs[Name]>;
  /** Without an answer. */
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void;
}

/** The other side has ended, or does not answer in time. It is not known whether the call had an effect. */
export class LinkGone extends Error {
  override readonly name = 'LinkGone';
}

/** `id` is null if no answer is wanted. */
type Message =
  | { readonly kind: 'call'; readonly id: number | null; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure };

/** An error as plain data. The kinds are those that a caller tells apart. */
type Failure =
  | { readonly kind: 'refused'; readonly problem: Problem; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: 'start' | 'unavailable' | 'other'; readonly message: string };

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * @param ours what the other side may call
 * @param onFault receives errors of calls without an answer
 * @param onGone called once, when the other side has ended
 */
export function createLink<Theirs extends Calls>(
  channel: Channel,
  ours: Calls,
  { onFault, onGone = () => undefined }: { readonly onFault: (error: unknown) => void; readonly onGone?: () => void },
): Link<Theirs> {
  const waiting = new Map<number, Waiting>();
  let calls = 0;
  let isGone = false;

  async function serve({ id, name, args }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const value = await ours[name]?.(...args);
      if (id !== null) channel.send({ kind: 'answer', id, value } satisfies Message);
    } catch (error) {
      if (id === null) onFault(error);
      else channel.send({ kind: 'failure', id, failure: failureOf(error) } satisfies Message);
    }
  }

  function settle(id: number, how: (asker: Waiting) => void): void {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (asker !== undefined) how(asker);
  }

  channel.listen(
    (received) => {
      const message = received as Message;
      if (message.kind === 'call') void serve(message);
      else if (message.kind === 'answer') settle(message.id, ({ resolve }) => resolve(message.value));
      else settle(message.id, ({ reject }) => reject(errorOf(message.failure)));
    },
    () => {
      if (isGone) return;
      isGone = true;
      for (const id of [...waiting.keys()])
        settle(id, ({ reject }) => reject(new LinkGone('the other side has ended')));
      onGone();
    },
  );

  function call(deadlineMs: number | null, name: string, args: readonly unknown[]): Promise<unknown> {
    if (isGone) return Promise.reject(new LinkGone('the other side has ended'));
    const id = ++calls;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { resolve, reject });
    channel.send({ kind: 'call', id, name, args } satisfies Message);
    if (deadlineMs === null) return promise;
    const late = () => settle(id, () => reject(new LinkGone(`${name} was not answered within ${deadlineMs} ms`)));
    const timer = setTimeout(late, deadlineMs);
    return promise.finally(() => clearTimeout(timer));
  }

  return {
    ask: (name, ...args) => call(null, name, args) as ReturnType<Link<Theirs>['ask']>,
    askWithin: (deadlineMs, name, ...args) => call(deadlineMs, name, args) as ReturnType<Link<Theirs>['ask']>,
    tell: (name, ...args) => {
      if (!isGone) channel.send({ kind: 'call', id: null, name, args } satisfies Message);
    },
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof RefusedRequest) return { kind: 'refused', problem: error.problem, headers: error.headers };
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof StartError) return { kind: 'start', message };
  return { kind: error instanceof StorageUnavailable ? 'unavailable' : 'other', message };
}

function errorOf(failure: Failure): Error {
  switch (failure.kind) {
    case 'refused':
      return new RefusedRequest(failure.problem, failure.headers);
    case 'start':
      return new StartError(failure.message);
    case 'unavailable':
      return new StorageUnavailable(failure.message);
    case 'other':
      return new Error(failure.message);
  }
}
