/** What every benchmark is given. */
import type { Workspace } from './workspace.ts';

export interface BenchOptions {
  /** A small version that shows only that the benchmark runs: its numbers mean nothing. */
  readonly quick: boolean;
  /** The sizes that docs/benchmarks.md names: some benchmarks then take many minutes. */
  readonly full: boolean;
  /** How many markets the large benchmarks publish. */
  readonly markets: number;
  /** How often each contestant is measured. */
  readonly rounds: number;
  readonly workspace: Workspace;
}

/** Measures, and prints a table. A benchmark that cannot run here says why, and how to mend it. */
export type Benchmark = (options: BenchOptions) => Promise<void>;
