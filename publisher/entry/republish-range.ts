/** A step of the full republish's state machine, for one range: render it, or apply it once HEAD is swapped. */
import type { RepublishRangeEvent } from '../../contract/aws.ts';
import { applyRange, renderRange } from '../republish-range.ts';
import { log } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

const STEPS = { render: renderRange, apply: applyRange } as const;

export async function handler({ step, republish, range }: RepublishRangeEvent): Promise<void> {
  if (!Object.hasOwn(STEPS, step)) throw new RangeError(`the step must be render or apply, not ${step}`);
  const startedMs = Date.now();
  await STEPS[step](storage, republish, range);
  log('info', 'range', { step, republish, range, durationMs: Date.now() - startedMs });
}
