/** One step of the scenario. */
import type { Session } from './session.ts';

export interface Step {
  /** What holds once it has been run. */
  readonly says: string;
  /** Rejects with an `AssertionError` or a `ZodError` where that is not so. */
  run(session: Session): Promise<void>;
}
