/** Whether ledger and store belong together. */
import { publicKey } from '../../contract/public-objects.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { ledgerBehind } from '../errors.ts';
import { type Head, supersededIfMoved } from './swap-head.ts';

/**
 * Reads HEAD, null before the first generation. Throws `LedgerBehind` where the store shows a later generation than HEAD's: a
 * ledger that was lost must not begin again at the first, over what readers hold cursors of, and one that was restored could
 * not put its bodies over later ones. The snapshot is put last of all, so it tells how far the store has come. Throws
 * `Superseded` when HEAD has moved since it was read.
 */
export async function assertSameOrigin(storage: PublisherStorage): Promise<Head | null> {
  const head = await storage.ledger.get(HEAD_KEY);
  const shown = await shownGeneration(storage);
  const known = head?.revision ?? 0;
  if (shown <= known) return head;
  throw await supersededIfMoved(storage.ledger, head, ledgerBehind(publicKey({ kind: 'snapshot' }), shown, known));
}

/**
 * The generation up to which the store is known to have come; 0 where it shows none. Without a snapshot the first one may be there
 * in part. Of what a part of a bundle puts for a market, the newest page of its history is first.
 */
export async function shownGeneration({ objects }: PublisherStorage): Promise<number> {
  const snapshot = await objects.stat(publicKey({ kind: 'snapshot' }));
  if (snapshot !== null) return snapshot.metadata.generation;
  const [history] = (await objects.list(HISTORIES)).keys;
  return history === undefined ? 0 : ((await objects.stat(history))?.metadata.generation ?? 0);
}

/** The keys of the newest pages of all histories begin with this. */
const HISTORIES = publicKey({ kind: 'history', slug: 'any' }).slice(0, -'any.json'.length);
