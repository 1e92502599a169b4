/** The first step of the full republish's state machine: which ranges there are. */
import { planRepublish, type RepublishPlan } from '../republish.ts';
import { log } from './log.ts';
import { openStorage } from './open-storage.ts';

const storage = openStorage();

export async function handler(): Promise<RepublishPlan> {
  const plan = await planRepublish(storage);
  log('info', 'planned a full republish', { republish: plan.republish, ranges: plan.ranges.length });
  return plan;
}
