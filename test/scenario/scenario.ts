/**
 * What readers, account holders and operators do with a deployment, over HTTP alone: the same for every shape that a
 * deployment can have. The steps build on each other, so they are run in order and end with the first that fails. What
 * has to wait, for caches or for a sweep, is begun early, and looked at late. There may be anything in the deployment
 * before; while it runs nobody else may write, or ETags change that must not.
 */
import { accountSteps } from './account-steps.ts';
import { claimSteps } from './claim-steps.ts';
import { correctionSteps } from './correction-steps.ts';
import { erasureSteps } from './erasure-steps.ts';
import { ingestSteps } from './ingest-steps.ts';
import { listSteps } from './list-steps.ts';
import { operatorSteps } from './operator-steps.ts';
import { readerSteps } from './reader-steps.ts';
import type { Step } from './step.ts';
import { uploadSteps } from './upload-steps.ts';

export type { Step } from './step.ts';

export const STEPS: readonly Step[] = [
  ...readerSteps,
  ...ingestSteps,
  ...uploadSteps,
  ...listSteps.before,
  ...correctionSteps,
  ...accountSteps,
  ...claimSteps,
  ...erasureSteps.begun,
  ...listSteps.after,
  ...operatorSteps,
  ...erasureSteps.finished,
];
