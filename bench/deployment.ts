/** The publisher's dependencies beside storage, clock and ids: the same in every benchmark. */
import { waitlistBody } from '../contract/waitlist.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../publisher/dependencies.ts';
import { staticBodies } from '../publisher/plan/static-bodies.ts';
import { NO_CACHES } from '../publisher/tell/purge.ts';

export const DEPLOYMENT: Pick<PublisherDependencies, 'pageSizes' | 'staticBodies' | 'caches'> = {
  pageSizes: DEFAULT_PAGE_SIZES,
  staticBodies: staticBodies({ waitlist: waitlistBody({ email: 'keys@tidemark.example' }), openapi: {} }),
  caches: NO_CACHES,
};
