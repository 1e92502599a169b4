/** The publisher's dependencies besides storage, clock and ids: the same in every benchmark. */
import { ed25519Signer, privateNoteKey } from '../../../contract/log/notes.ts';
import { waitlistBody } from '../../../contract/values/waitlist.ts';
import { DEFAULT_PAGE_SIZES, type PublisherDependencies } from '../../../publisher/dependencies.ts';
import { NO_CACHES } from '../../../publisher/notify/purge.ts';
import { staticBodies } from '../../../publisher/static-bodies.ts';

export const DEPLOYMENT: Pick<PublisherDependencies, 'pageSizes' | 'staticBodies' | 'caches'> = {
  pageSizes: DEFAULT_PAGE_SIZES,
  staticBodies: staticBodies({ waitlist: waitlistBody({ email: 'keys@tidemark.example' }), openapi: {} }),
  caches: NO_CACHES,
};

/** With these settings, the publisher writes the log. The key is used only here. */
export const LOG: NonNullable<PublisherDependencies['log']> = {
  origin: 'tidemark.bench/log',
  signers: [ed25519Signer(privateNoteKey('tidemark.bench/log', new Uint8Array(32)))],
};
