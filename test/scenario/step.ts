/** One step of the scenario. */
import type { Session } from './session.ts';

export interface Step {
  /** The promise that holds after the step. */
  readonly says: string;
  /** Rejects with an `AssertionError` or a `ZodError` where that is not so. */
  run(session: Session): Promise<void>;
}
