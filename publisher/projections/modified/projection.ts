/** The markets that have changed last, as a file of the list's cadence. */
import { MODIFIED_URL } from '../../../contract/files/routes.ts';
import { singleFileReachability } from '../../kernel/list-file.ts';
import { NO_PLAN, type Projector } from '../../kernel/projection.ts';

export const modified: Projector = {
  name: 'modified',
  kinds: ['modified'],
  plan: async (context) =>
    context.dependencies.projections?.has('feeds') === true
      ? await (await import('./plan-modified.ts')).planModified(context)
      : NO_PLAN,
  check: async (context) => (await import('./check.ts')).checkModified(context),
  checkLogged: async (context) => (await import('./check.ts')).checkLoggedModified(context),
  reachable: singleFileReachability({ kind: 'modified' }),
  describe: { what: 'The markets that have changed last.', paths: [MODIFIED_URL] },
};
