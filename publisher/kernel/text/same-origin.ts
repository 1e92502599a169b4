/** Checks that the ledger and the store belong together. */
import pMap from 'p-map';
import { parsePublicKey, publicKey } from '../../../contract/files/public-objects.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { keyPages } from '../../../storage/ports/objects.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../../dependencies.ts';
import { ledgerBehind } from '../../errors.ts';
import { type Head, supersededIfMoved } from '../swap-head.ts';

/**
 * Reads HEAD; null before the first generation. The snapshot is put last, so its generation shows how far the store has
 * come.
 *
 * @throws LedgerBehind if the store shows a later generation than HEAD's. An empty ledger must not start again at
 *   generation 1 while readers hold cursors. A restored ledger could not put its bodies over later ones.
 * @throws Superseded if HEAD has moved since it was read
 */
export async function assertSameOrigin(storage: PublisherStorage): Promise<Head | null> {
  const head = await storage.ledger.get(HEAD_KEY);
  const shown = await storeGeneration(storage);
  const known = head?.revision ?? 0;
  if (shown <= known) return head;
  throw await supersededIfMoved(storage.ledger, head, ledgerBehind(publicKey({ kind: 'snapshot' }), shown, known));
}

/**
 * The last generation that has reached the store, as far as its objects show; 0 if none has. Without a snapshot, the first
 * generation may be applied in part. A bundle puts tiles of the log first, then the newest history page of a market.
 */
export async function storeGeneration({ objects }: PublisherStorage): Promise<number> {
  const snapshot = await objects.stat(publicKey({ kind: 'snapshot' }));
  if (snapshot !== null) return snapshot.metadata.generation;
  const history = await firstHistory(objects);
  const { keys: tiles } = await objects.list(LOG);
  const heads = await pMap(history === undefined ? tiles : [history, ...tiles], (key) => objects.stat(key), {
    concurrency: OBJECT_CONCURRENCY,
  });
  return Math.max(0, ...heads.map((head) => head?.metadata.generation ?? 0));
}

/** The key of the newest page of any history. Closed pages and list pages prove nothing: they are put before the commit. */
async function firstHistory(objects: ObjectStore): Promise<string | undefined> {
  for await (const keys of keyPages(objects, MARKETS)) {
    const history = keys.find((key) => parsePublicKey(key)?.kind === 'history');
    if (history !== undefined) return history;
  }
}

const MARKETS = publicKey({ kind: 'market', slug: 'any' }).slice(0, -'any.json'.length);
const LOG = publicKey({ kind: 'log-checkpoint' }).slice(0, -'checkpoint'.length);
