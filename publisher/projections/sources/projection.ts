/** The sources of all markets, as a file of the list's cadence, which is also published when a source was fetched. */
import { SOURCES_FILE_URL } from '../../../contract/files/routes.ts';
import { singleFileReachability } from '../../kernel/list-file.ts';
import { NO_PLAN, type Projector } from '../../kernel/projection.ts';

export const sources: Projector = {
  name: 'sources',
  kinds: ['sources'],
  plan: async (context) =>
    context.dependencies.projections?.has('feeds') === true
      ? await (await import('./plan-sources.ts')).planSources(context)
      : NO_PLAN,
  check: async (context) => (await import('./check.ts')).checkSources(context),
  reachable: singleFileReachability({ kind: 'sources' }),
  describe: { what: 'The sources of all markets, and when each was fetched.', paths: [SOURCES_FILE_URL] },
};
