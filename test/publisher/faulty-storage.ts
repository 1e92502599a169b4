/** Storage that numbers its operations, and lets one of them fail in a chosen way. */

import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';

/** The process is dead: its later operations have no effect. The code under test never catches this. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}

export interface Operation {
  /** E.g. `objects.put public/api/v1/markets.json`. */
  readonly what: string;
  readonly isWrite: boolean;
  /** Does the operation on the real storage. */
  readonly run: () => Promise<unknown>;
}

/** Replaces one operation. */
export type Fault = (operation: Operation) => Promise<unknown>;

/** Fails without effect. */
export const failsWithoutEffect: Fault = async ({ what }) => {
  throw new StorageUnavailable(`${what}: injected, without effect`);
};

/** Has its effect, but its answer is lost. */
export const failsWithEffect: Fault = async ({ what, run }) => {
  await run();
  throw new StorageUnavailable(`${what}: injected, with effect`);
};

/** Has its effect; then the process dies. */
export const diesAfter: Fault = async ({ what, run }) => {
  await run();
  throw new ProcessDied(what);
};

/**
 * The operations in whose place the fault is not the same as in another: a read without an answer has failed without effect, and
 * who dies after a read dies after the write before it.
 */
export function placesOf<Place extends Pick<Operation, 'isWrite'>>(fault: Fault, operations: readonly Place[]) {
  return fault === failsWithoutEffect ? operations : operations.filter(({ isWrite }) => isWrite);
}

export interface FaultyStorage {
  readonly ledger: Ledger;
  readonly objects: ObjectStore;
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
}

const WRITES: readonly string[] = ['transact', 'put', 'delete'];

/** Wraps both ports. `fault` replaces operation number `at`, counted from 0, or all of them. */
export function faultyStorage(ledger: Ledger, objects: ObjectStore, at: number | 'all', fault: Fault): FaultyStorage {
  const operations: Operation[] = [];
  let died = false;
  const wrap = <Port extends object>(name: string, port: Port): Port =>
    new Proxy(port, {
      get: (target, method) => {
        const call = Reflect.get(target, method) as (...args: unknown[]) => Promise<unknown>;
        if (method === 'etagOf') return call;
        return async (...args: unknown[]) => {
          if (died) throw new ProcessDied('after its death');
          const run = () => call.apply(target, args);
          const operation = {
            what: describe(name, String(method), args[0]),
            isWrite: WRITES.includes(String(method)),
            run,
          };
          const number = operations.push(operation) - 1;
          if (at !== 'all' && number !== at) return await run();
          try {
            return await fault(operation);
          } catch (error) {
            if (error instanceof ProcessDied) died = true;
            throw error;
          }
        };
      },
    });
  return { ledger: wrap('ledger', ledger), objects: wrap('objects', objects), operations };
}

function describe(port: string, method: string, argument: unknown): string {
  return `${port}.${method} ${typeof argument === 'string' ? argument : JSON.stringify(argument)?.slice(0, 120)}`;
}
