/**
 * EventBridge, and the queue from which Lambda takes asynchronous events: rules with patterns, rules with
 * schedules, and the tries that a function is given.
 *
 * Not as in EventBridge: the length of a minute is configurable, and a schedule skips an invocation while an earlier one waits.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { FunctionName } from '../../../infra/deployment/permissions.ts';
import { matches } from './event-pattern.ts';
import { THROTTLED } from './hosted-function.ts';
import { ACCOUNT, REGION } from './references.ts';
import type { Deployed } from './stacks.ts';

export interface EventBusOptions {
  readonly deployed: Deployed;
  /** How long a minute of schedules and of pauses between tries is. */
  readonly minuteMs: number;
  readonly invoke: (name: FunctionName, event: unknown) => Promise<unknown>;
  /** Called for events that were given up. */
  readonly givenUp: (name: FunctionName, event: unknown) => void;
}

export interface EventBus {
  /** Rules with schedules that are disabled fire no more. */
  isSweeping: boolean;
  /** Resolves once every schedule has had its first invocation, which is immediate. */
  firstTurns(): Promise<void>;
  put(source: string, detailType: string, resources: readonly string[], detail: object): void;
  stop(): void;
}

/** A rule that fires once an hour or less often does not fire here: invoke its function by hand. */
const MOST_MINUTES = 5;

export function startEventBus({ deployed, minuteMs, invoke, givenUp }: EventBusOptions): EventBus {
  const stopped = new AbortController();

  async function deliver(functionName: FunctionName, event: unknown): Promise<void> {
    const retries = deployed.functions.get(functionName)?.asyncRetries ?? 0;
    for (let tries = 0; !stopped.signal.aborted; tries++) {
      const failure = await invoke(functionName, event).then(
        () => null,
        (error: Error) => error.name,
      );
      if (failure === null) return;
      if (failure === THROTTLED) tries = -1;
      if (tries === retries) return givenUp(functionName, event);
      await setTimeout((tries + 1) * minuteMs, null, { signal: stopped.signal }).catch(() => undefined);
    }
  }

  const bus: EventBus = {
    isSweeping: true,
    put(...fields) {
      const event = newEvent(...fields);
      for (const { functionName, pattern } of deployed.rules) {
        if (matches(pattern, event)) void deliver(functionName, event);
      }
    },
    async firstTurns() {
      await Promise.all(sweeps.map(({ firstTurn }) => firstTurn));
    },
    stop() {
      stopped.abort();
      for (const { timer } of sweeps) clearInterval(timer);
    },
  };
  const sweeps = deployed.schedules
    .filter(({ everyMinutes }) => everyMinutes <= MOST_MINUTES)
    .map(({ functionName, everyMinutes }) => {
      let isWaiting = false;
      const turn = async () => {
        if (isWaiting || !bus.isSweeping) return;
        isWaiting = true;
        const rule = `arn:aws:events:${REGION}:${ACCOUNT}:rule/tidemark-sweep`;
        await deliver(functionName, newEvent('aws.events', 'Scheduled Event', [rule], {}));
        isWaiting = false;
      };
      return { timer: setInterval(turn, everyMinutes * minuteMs), firstTurn: turn() };
    });
  return bus;
}

function newEvent(source: string, detailType: string, resources: readonly string[], detail: object) {
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const place = { account: ACCOUNT, time, region: REGION };
  return { version: '0', id: randomUUID(), 'detail-type': detailType, source, ...place, resources, detail };
}
