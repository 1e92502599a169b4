/** The options of every benchmark. */
import type { Section } from './section.ts';
import type { Workspace } from './workspace.ts';

export interface BenchOptions {
  /** A small version that only shows that the benchmark runs: its numbers mean nothing. */
  readonly quick: boolean;
  /** Larger sizes: some benchmarks then take many minutes. */
  readonly full: boolean;
  /** Whether documents are written. */
  readonly write: boolean;
  /** How often each contestant is measured. */
  readonly rounds: number;
  readonly workspace: Workspace;
  readonly section: Section;
}

/** Measures, and prints a table. A benchmark that cannot run here prints the reason and the remedy. */
export type Benchmark = (options: BenchOptions) => Promise<void>;
