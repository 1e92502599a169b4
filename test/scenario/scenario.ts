/**
 * The use of a deployment by readers, account holders and operators, over HTTP alone. It is the same for every kind of
 * deployment. The steps build on each other, so they run in order and end with the first that fails. Steps that wait for
 * caches or for a sweep begin early and are checked late. The deployment may hold other data before. While the scenario
 * runs, there must be no other writer, because ETags that must stay would change.
 */
import { accountSteps } from './account-steps.ts';
import { claimSteps } from './claim-steps.ts';
import { correctionSteps } from './correction-steps.ts';
import { erasureSteps } from './erasure-steps.ts';
import { ingestSteps } from './ingest-steps.ts';
import { listSteps } from './list-steps.ts';
import { operatorSteps } from './operator-steps.ts';
import { readerSteps } from './reader-steps.ts';
import type { Step } from './session.ts';
import { uploadSteps } from './upload-steps.ts';

export type { Step } from './session.ts';

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
