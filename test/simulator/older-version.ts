/**
 * An older commit's code in a simulated world. Half of the lives of each process are of that version, until the faults end:
 * by then a deployment has replaced them.
 */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type * as ports from '../../storage/ports/errors.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { checkFormat } from '../../storage/ports/format.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { type BaseWorld, baseWorld, hostAtOnce } from './base-world.ts';
import { FILE_PROJECTIONS } from './published.ts';
import { type Host, type isPassing, PLAIN, WIRING, type Wiring } from './wiring.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROOMS = ['contract', 'lambdas', 'publisher', 'storage', 'server', 'infra', 'mapping', 'package.json'];
const ROOMS_OF_TESTS = ['simulator', 'storage', 'publisher', 'ingest', 'runs.ts'].map((name) => `test/${name}`);

export interface OlderVersion {
  /** Of its ledgers. */
  readonly format: number;
  readonly wiring: Wiring;
  readonly isPassing: typeof isPassing;
  readonly checkFormat: typeof checkFormat;
  readonly errors: typeof ports;
  readonly baseWorld: typeof baseWorld;
}

export function isInHistory(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** @param folder an empty one */
export async function openOlderVersion(commit: string, folder: string): Promise<OlderVersion> {
  const archive = execFileSync('git', ['archive', commit, ...ROOMS, ...ROOMS_OF_TESTS], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const load = async (path: string) => await import(/* @vite-ignore */ join(folder, path));
  const { WIRING: wiring, isPassing } = await load('test/simulator/wiring.ts');
  const { baseWorld } = await load('test/simulator/base-world.ts');
  const { checkFormat } = await load('storage/ports/format.ts');
  const errors = await load('storage/ports/errors.ts');
  const { LEDGER_FORMAT: format } = await load('storage/records/formats.ts');
  return { format, wiring, isPassing, checkFormat, errors, baseWorld };
}

/** Published by the older version, if the present one continues its ledgers. */
export async function baseOf(older: OlderVersion): Promise<BaseWorld> {
  const isContinued = older.format === LEDGER_FORMAT;
  const { items, objects, expected } = await (isContinued ? older.baseWorld(true) : baseWorld(true));
  const base = { items: items.copy(), objects: new Map(objects), expected };
  const put = { kind: 'put', key: FORMAT_KEY, revision: LEDGER_FORMAT, value: { format: LEDGER_FORMAT } } as const;
  await hostAtOnce(base.items, base.objects, 'format').ledger.transact([{ ...put, if: { kind: 'any' } }], {
    attemptId: 'format',
  });
  // Each version publishes after the other once, so that all modules are loaded: that takes real time.
  const settings = { ...PLAIN, projections: [...PLAIN.projections, ...FILE_PROJECTIONS] };
  const host = hostAtOnce(base.items.copy(), new Map(objects), 'rehearsal', settings);
  for (const { publish } of isContinued ? [WIRING, older.wiring, WIRING] : [WIRING]) {
    while ((await publish(host)) === 'more');
  }
  return base;
}

export interface Mixed {
  readonly wiring: Wiring;
  /** From now on, all processes are of the present version. */
  endDeployment(): void;
  /** How many rounds of work each version began. */
  readonly rounds: { older: number; present: number };
  /** Of lives of the older version that refused the ledger: its messages. */
  readonly refusals: readonly string[];
}

export function mixedWith(older: OlderVersion): Mixed {
  const olderLives = new WeakMap<Host, Host | null>();
  let [lives, isOver] = [0, false];
  const rounds = { older: 0, present: 0 };
  const refusals: string[] = [];
  const olderLifeOf = (host: Host): Host | null => {
    let life = olderLives.get(host);
    if (life === undefined) {
      life = ++lives % 2 === 0 ? translatedHost(host, older) : null;
      olderLives.set(host, life);
    }
    return isOver ? null : life;
  };
  const run = async <Result>(host: Host, does: (wiring: Wiring, host: Host) => Promise<Result>): Promise<Result> => {
    const life = olderLifeOf(host);
    if (life !== null) {
      try {
        rounds.older++;
        await older.checkFormat(life.ledger);
        return await does(older.wiring, life);
      } catch (error) {
        if (!(error instanceof older.errors.FormatTooNew)) throw presentError(error, older);
        refusals.push(error.message);
        // A supervisor begins the present version in its place.
        olderLives.set(host, null);
      }
    }
    rounds.present++;
    return await does(WIRING, host);
  };
  const wiring: Wiring = {
    publish: (host) => run(host, (version, own) => version.publish(own)),
    work: (host, ...rest) => run(host, (version, own) => version.work(own, ...rest)),
    sweep: (host) => run(host, (version, own) => version.sweep(own)),
    restore: (host) => WIRING.restore(host),
    repair: (host, market) => WIRING.repair(host, market),
    openApi: (host) => (event) => run(host, (version, own) => version.openApi(own)(event)),
    accept: (host, batch) => run(host, (version, own) => version.accept(own, batch)),
    uploadArrived: (host, id) => run(host, (version, own) => version.uploadArrived(own, id)),
  };
  const endDeployment = () => {
    isOver = true;
  };
  return { wiring, endDeployment, rounds, refusals };
}

/** Each version knows the errors of storage by its own classes. */
function translatedHost(host: Host, { errors }: OlderVersion): Host {
  const toOlder = (error: unknown) =>
    error instanceof StorageUnavailable ? new errors.StorageUnavailable(error.message, { cause: error }) : error;
  const translated = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const result = member.apply(target, args);
          return result instanceof Promise ? result.catch((error) => Promise.reject(toOlder(error))) : result;
        };
      },
    });
  return { ...host, ledger: translated(host.ledger), objects: translated(host.objects) };
}

function presentError(error: unknown, older: OlderVersion): unknown {
  if (!older.isPassing(error)) return error;
  return new StorageUnavailable(error instanceof Error ? `${error.name}: ${error.message}` : '', { cause: error });
}
