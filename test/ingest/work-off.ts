/** A worker that works off the queue, and rejects if any item fails. */
import { createUploadRunner, type UploadDependencies } from '../../lambdas/ingest/run-upload.ts';
import { runWork, type WorkDependencies, type WorkDone } from '../../lambdas/worker/run-work.ts';
import { createRunners } from '../../lambdas/worker/runners.ts';
import { type Runtime, systemRuntime } from '../../storage/aws/runtime.ts';

export type WorkOffDependencies = Pick<WorkDependencies, 'ledger'> &
  Pick<UploadDependencies, 'ledger'> &
  Partial<Runtime & Pick<UploadDependencies, 'uploads' | 'limits' | 'yieldToEventLoop'> & WorkDependencies>;

let workers = 0;

/** Works off the queue, by default with a clock and ids of its own. */
export async function workOff(given: WorkOffDependencies): Promise<WorkDone> {
  const dependencies = { ...systemRuntime, random: () => 0, pause: async () => {}, ...given };
  const { uploads } = given;
  return await runWork({
    owner: `worker-${++workers}`,
    runners: createRunners(dependencies, uploads && createUploadRunner({ ...dependencies, uploads })),
    failed: (_, error) => {
      throw error;
    },
    ...dependencies,
  });
}
