/** The permissions of a feed. They are stored with its batches and uploads, for the worker. */
import type { FeedAuthority } from '../../contract/files/feed-authority.ts';
import type { IngestMode } from '../../contract/ingest/ingest-records.ts';
import { FEED_SCOPES } from '../../contract/operations/scopes.ts';
import type { Principal } from '../credentials/principal.ts';
import { scopesRefusal } from '../http/refused-request.ts';

/** Empty for a credential without limits. */
export function authorityOf({ scopes, markets }: Principal): { readonly authority?: FeedAuthority } {
  const own = FEED_SCOPES.filter((scope) => scopes.has(scope));
  if (own.length === FEED_SCOPES.length && markets === null) return {};
  return { authority: { scopes: own, markets: markets === null ? null : [...markets] } };
}

/** The worker would refuse every row of such a correcting batch. This refuses the request at once. */
export function checkMode({ scopes }: Principal, mode: IngestMode): void {
  if (mode === 'append' || scopes.has('ingest:correct') || scopes.has('markets:write')) return;
  throw scopesRefusal(['ingest:correct'], 'The mode `correct` needs a credential with the scope ingest:correct.');
}
