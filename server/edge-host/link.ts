/**
 * Calls in both directions between two threads. Messages arrive in the order in which they were sent. So an answer that is
 * relayed to a client never overtakes a purge that was sent before it.
 */
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Problem } from '../../contract/problems/problems.ts';
import { RefusedRequest } from '../../lambdas/http/refused-request.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { StartError } from '../service/start-error.ts';

/** The functions that one thread offers to the other. Arguments and results must be structured-cloneable. */
// biome-ignore lint/suspicious/noExplicitAny: the parameters of each call are checked where it is made
export type Calls = Readonly<Record<string, (...args: any[]) => unknown>>;

export interface Link<Theirs extends Calls> {
  /** Rejects with the other side's error. */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>;
  /** Sends a call that has no answer. */
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void;
}

/** `id` is null if no answer is wanted. */
type Message =
  | { readonly kind: 'call'; readonly id: number | null; readonly name: string; readonly args: readonly unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly failure: Failure };

/** An error as plain data. The kinds are the errors that callers distinguish. */
type Failure =
  | { readonly kind: 'refused'; readonly problem: Problem; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: keyof typeof KINDS | 'other'; readonly message: string };
const KINDS = { start: StartError, unavailable: StorageUnavailable };

/**
 * @param ours the functions that the other thread may call
 * @param onFault receives errors of calls without an answer
 */
export function createLink<Theirs extends Calls>(
  port: Worker | MessagePort,
  ours: Calls,
  onFault: (error: unknown) => void,
): Link<Theirs> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let calls = 0;
  const send = (message: Message) => port.postMessage(message);

  async function serve({ id, name, args }: Extract<Message, { kind: 'call' }>): Promise<void> {
    try {
      const value = await ours[name]?.(...args);
      if (id !== null) send({ kind: 'answer', id, value });
    } catch (error) {
      if (id === null) onFault(error);
      else send({ kind: 'failure', id, failure: failureOf(error) });
    }
  }

  port.on('message', (message: Message) => {
    if (message.kind === 'call') {
      void serve(message);
      return;
    }
    const asked = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.kind === 'answer') asked?.resolve(message.value);
    else asked?.reject(errorOf(message.failure));
  });

  return {
    ask(name, ...args) {
      const id = ++calls;
      const asked = Promise.withResolvers<unknown>();
      waiting.set(id, asked);
      send({ kind: 'call', id, name, args });
      return asked.promise as ReturnType<Link<Theirs>['ask']>;
    },
    tell: (name, ...args) => send({ kind: 'call', id: null, name, args }),
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof RefusedRequest) return { kind: 'refused', problem: error.problem, headers: error.headers };
  const known = (['start', 'unavailable'] as const).find((kind) => error instanceof KINDS[kind]);
  return { kind: known ?? 'other', message: error instanceof Error ? error.message : String(error) };
}

function errorOf(failure: Failure): Error {
  if (failure.kind === 'refused') return new RefusedRequest(failure.problem, failure.headers);
  return failure.kind === 'other' ? new Error(failure.message) : new KINDS[failure.kind](failure.message);
}
