/** The options of every benchmark. */
import type { Section } from './section.ts';
import type { Workspace } from './workspace.ts';

export interface BenchOptions {
  /** A small version that only shows that the benchmark runs: its numbers mean nothing. */
  readonly quick: boolean;
  /** Larger sizes, and more peers: some benchmarks then take many minutes. */
  readonly full: boolean;
  /** How many markets the large benchmarks publish. */
  readonly markets: number;
  /** How often each contestant is measured. */
  readonly rounds: number;
  /** Measures only the cases whose titles contain it. Empty: all. For `read`. */
  readonly only: string;
  /** Instead of measuring: where the processor time goes. For `read`. */
  readonly profile: boolean;
  readonly workspace: Workspace;
  readonly section: Section;
}

/** Measures, and prints a table. A benchmark that cannot run here prints the reason and the remedy. */
export type Benchmark = (options: BenchOptions) => Promise<void>;
