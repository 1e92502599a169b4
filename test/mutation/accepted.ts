/** Mutants that no test need find, each with the reason. */
interface Accepted {
  readonly file: string;
  /** The code that the mutant puts in the place of ours. */
  readonly replacement: string;
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [];
