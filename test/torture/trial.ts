/** One run of one scenario: its random numbers, what it has counted, and the promises that it has seen broken. */
import { Random } from '../simulator/random.ts';

export interface Scenario {
  readonly name: string;
  /** The fault, in one sentence. */
  readonly does: string;
  /** What must hold meanwhile and afterwards, one sentence each. */
  readonly holds: readonly string[];
  /** How often the fault is repeated if the command does not say. */
  readonly times: number;
  /** Throws {@link NotPossible} if this machine cannot make the fault. */
  run(trial: Trial): Promise<void>;
}

/** The fault cannot be made here. The message is the reason. */
export class NotPossible extends Error {
  override readonly name = 'NotPossible';
}

export interface Trial {
  readonly random: Random;
  readonly times: number;
  /** An empty folder for this run, on a local disk. */
  readonly folder: string;
  /** Tells the person at the command how far it is. */
  progress(text: string): void;
  count(what: string, by?: number): void;
  counted(what: string): number;
  /** A promise was broken. The first few are told. */
  broken(rule: string, detail: string): void;
  readonly isBroken: boolean;
}

export interface Outcome {
  readonly name: string;
  readonly seed: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly broken: readonly string[];
  /** Why it did not run; null if it did. */
  readonly skipped: string | null;
  readonly seconds: number;
}

const TOLD_AT_MOST = 12;

export interface TrialOptions {
  readonly seed: number;
  readonly folder: string;
  readonly times?: number;
  readonly progress?: (text: string) => void;
}

/** Runs one scenario. An error of it is told as a broken promise: the service did something that nobody expected. */
export async function runScenario(scenario: Scenario, options: TrialOptions): Promise<Outcome> {
  const { seed, folder, times = scenario.times, progress = () => {} } = options;
  const counts = new Map<string, number>();
  const broken: string[] = [];
  const startedMs = performance.now();
  let skipped: string | null = null;
  try {
    await scenario.run({
      random: new Random(seed),
      times,
      folder,
      progress,
      count: (what, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by),
      counted: (what) => counts.get(what) ?? 0,
      broken(rule, detail) {
        counts.set('broken', (counts.get('broken') ?? 0) + 1);
        if (broken.length < TOLD_AT_MOST) broken.push(`${rule}: ${detail.slice(0, 600)}`);
      },
      get isBroken() {
        return broken.length > 0;
      },
    });
  } catch (error) {
    if (error instanceof NotPossible) skipped = error.message;
    else broken.push(`the scenario has ended early: ${(error as Error).stack ?? String(error)}`);
  }
  return { name: scenario.name, seed, counts, broken, skipped, seconds: (performance.now() - startedMs) / 1000 };
}
