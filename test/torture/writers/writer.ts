/**
 * One writer: sends a write until it knows the outcome, as a careful client does. Without an answer it looks whether the
 * write is there, sends it again with the same key, and compares.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../simulator/random.ts';
import { type Account, keyOf } from '../account.ts';
import { type Answer, type Asked, openConnection } from '../exchange.ts';
import type { Gate } from '../gate.ts';
import type { ServiceProcess } from '../service-process.ts';
import type { Trial } from '../trial.ts';

export interface WriterOptions {
  readonly trial: Trial;
  readonly service: ServiceProcess;
  readonly account: Account;
  readonly random: Random;
  readonly pauseMs: number;
  /** The load ends: writes that were sent are settled first. */
  readonly stopping: AbortSignal;
  /** The scenario is over: whatever waits is given up. */
  readonly over: AbortSignal;
  readonly gate: Gate;
  /** Called with each write that is sent. */
  readonly onSend: () => void;
}

export interface Wish {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Whether the write has happened, looked up before it is sent again. Left out: it cannot be looked up. */
  readonly isThere?: () => Promise<boolean | null>;
  /** Whether it may stay unknown for good. */
  readonly mayBeLeft?: boolean;
}

/** `left`: its outcome stays unknown. */
export type Written = Answer | 'left';

export interface Writer extends WriterOptions {
  /** Sends until there is an answer that says what has happened. */
  write(wish: Wish): Promise<Written>;
  /** As an operator, until there is an answer below 500. Null: the scenario ends. */
  read(path: string): Promise<Answer | null>;
  /** One request, without any key or credential. Null: no answer. */
  ask(path: string, asked: Asked): Promise<Answer | null>;
  /** The pause between two writes; ends early when the load ends. */
  pause(): Promise<void>;
  close(): void;
}

/** A stopping writer settles what it has sent. A service that does not come back ends that, too. */
const SETTLED_WITHIN_MS = 120_000;

export function openWriter(options: WriterOptions): Writer {
  const { trial, service, account, random, pauseMs, stopping, over, gate, onSend } = options;
  const connection = openConnection(service.port);
  const authorization = () => `Bearer ${service.operatorKey()}`;

  async function ask(path: string, asked: Asked): Promise<Answer | null> {
    do over.throwIfAborted();
    while (!service.isServing && (await sleep(20, true)));
    const { life } = service;
    if (asked.method !== undefined) onSend();
    try {
      return await connection.ask(path, asked);
    } catch (error) {
      // While it is up, each request must have its answer.
      if (service.isServing && service.life === life) {
        trial.count('requests without an answer');
        trial.broken('a write without an answer', `${asked.method ?? 'GET'} ${path}: ${String(error)}`);
      }
      return null;
    }
  }

  async function read(path: string): Promise<Answer | null> {
    for (const untilMs = performance.now() + SETTLED_WITHIN_MS; ; ) {
      const answer = await ask(path, { headers: { authorization: authorization() } });
      if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
      if (performance.now() > untilMs) return null;
      await sleep(answer?.status === 429 ? 1_000 : 100);
    }
  }

  async function write({ method, path, headers = {}, body, isThere, mayBeLeft = false }: Wish): Promise<Written> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const fields = {
      authorization: authorization(),
      'idempotency-key': keyOf(random),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const untilMs = performance.now() + SETTLED_WITHIN_MS;
    for (let wasThere: boolean | null = false; ; ) {
      const { life } = service;
      const answer = await ask(path, { method, headers: fields, ...(text === undefined ? {} : { body: text }) });
      const isReplayed = answer?.headers['idempotency-replayed'] === 'true';
      if (answer !== null && answer.status < 300) {
        if (wasThere !== null && wasThere !== isReplayed) {
          trial.broken(
            'half a write',
            `${method} ${path} was ${wasThere ? '' : 'not '}there, and its key was ${isReplayed ? '' : 'not '}known`,
          );
        }
        trial.count('writes acknowledged');
        if (isReplayed) trial.count('of them found again after no answer');
        account.writes.push({ method, path, headers: fields, body: text, status: answer.status, text: answer.text });
        return answer;
      }
      // A refusal is an outcome, too: nothing has changed.
      if (answer !== null && answer.status < 500 && answer.status !== 429) return answer;
      if (performance.now() > untilMs) {
        trial.broken('a write that never ends', `${method} ${path}: ${answer?.status} ${answer?.text}`);
        return 'left';
      }
      if (answer?.status === 429) {
        await sleep(1_000);
        continue;
      }
      trial.count(answer === null ? 'writes cut off' : `writes answered ${answer.status}`);
      if (answer !== null) checkProblem(answer, `${method} ${path}`);
      if (mayBeLeft && (stopping.aborted || random.chance(0.2))) return 'left';
      await sleep(answer === null ? 0 : 200);
      // If only its connection has broken, the write may still be under way.
      wasThere = isThere === undefined || (answer === null && service.life === life) ? null : await isThere();
    }
  }

  /** A fault must be told as the contract says (RFC 9457), and must not be one of the code. */
  function checkProblem({ status, headers, text }: Answer, what: string): void {
    const isProblem = headers['content-type'] === 'application/problem+json';
    if (status !== 503 || !isProblem)
      trial.broken('a write is refused otherwise than by 503', `${what}: ${status} ${text}`);
  }

  return {
    ...options,
    ask,
    read,
    write,
    pause: async () => {
      // Rejects when the load ends.
      await sleep(pauseMs * (0.5 + random.unit()), undefined, { signal: stopping }).catch(() => {});
      await gate.pass();
      over.throwIfAborted();
    },
    close: connection.close,
  };
}
