/** The runners of all kinds of work. */
import { type ErasureDependencies, runErasure } from '../accounts/run-erasure.ts';
import { runBatch } from '../ingest/run-batch.ts';
import { runTogether } from '../ingest/run-together.ts';
import type { UploadRunner } from '../ingest/run-upload.ts';
import { runRefresh } from './run-refresh.ts';
import type { WorkDependencies } from './run-work.ts';

/** @param runUpload left out by a host that takes no large files */
export function createRunners(
  dependencies: ErasureDependencies,
  runUpload?: UploadRunner,
): WorkDependencies['runners'] {
  return {
    ingest: ({ value: { batch, lane } }) => runBatch(dependencies, batch, { lane }),
    together: (items) => runTogether(dependencies, items),
    erasure: ({ value }) => runErasure(dependencies, value.erasure),
    refresh: (item) => runRefresh(dependencies, item),
    ...(runUpload && { upload: ({ value }) => runUpload(value.upload) }),
  };
}
