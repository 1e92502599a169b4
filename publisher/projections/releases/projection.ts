/** When each source is expected next, as a calendar of the list's cadence. It changes with cadences, not with values. */
import { RELEASES_URL } from '../../../contract/files/routes.ts';
import { singleFileReachability } from '../../kernel/list-file.ts';
import { NO_PLAN, type Projector } from '../../kernel/projection.ts';
import type { ReleasesState } from './plan-releases.ts';

export const releases: Projector = {
  name: 'releases',
  kinds: ['releases'],
  plan: async (context) =>
    context.dependencies.projections?.has('feeds') === true
      ? await (await import('./plan-releases.ts')).planReleases(context)
      : NO_PLAN,
  check: async (context) => (await import('./check.ts')).checkReleases(context),
  reachable: singleFileReachability(
    { kind: 'releases' },
    (state) => (state as ReleasesState | undefined)?.digest !== undefined,
  ),
  describe: { what: 'When each source is expected next.', paths: [RELEASES_URL] },
};
