/** The steps of the full republish's state machine that happen once: swap HEAD, finish, or give up. */
import type { RepublishCommitEvent } from '../../contract/aws.ts';
import { abandonRepublish, commitRepublish, finishRepublish } from '../republish.ts';
import { log } from './log.ts';
import { openPublisher } from './open-publisher.ts';

const dependencies = openPublisher();

const STEPS = { commit: commitRepublish, finish: finishRepublish, abandon: abandonRepublish } as const;

export async function handler({ step, republish }: RepublishCommitEvent): Promise<void> {
  if (!Object.hasOwn(STEPS, step)) throw new RangeError(`the step must be commit, finish or abandon, not ${step}`);
  const startedMs = Date.now();
  await STEPS[step](dependencies, republish);
  log('info', 'republish', { step, republish, durationMs: Date.now() - startedMs });
}
