/** The same published bytes for all servers: the sample, and any number of markets after one of it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publicKey } from '../../contract/public-objects.ts';
import { marketUrl } from '../../contract/routes.ts';
import { publish } from '../../publisher/publish.ts';
import { openDirectoryObjects } from '../../storage/directory-objects.ts';
import { ObjectIndex } from '../../storage/object-index.ts';
import { indexPath, objectFile } from '../../storage/object-places.ts';
import { bodyDigest } from '../../storage/object-rules.ts';
import type { ObjectStore, StoredObject } from '../../storage/object-store.ts';
import { readAll } from '../../storage/paging.ts';
import { MARKET_INDEX, marketKey } from '../../storage/records/markets.ts';
import { openSqliteLedger } from '../../storage/sqlite-ledger.ts';
import { DEPLOYMENT } from '../deployment.ts';
import type { PeerMarket } from '../peers/fastify-database.ts';
import { NginxSite } from '../peers/nginx.ts';
import { dependenciesOn, ingest } from '../synthetic-ledger.ts';
import { readSample, syntheticSlug } from '../synthetic-markets.ts';
import type { Workspace } from '../workspace.ts';

/** The market that is asked for, and that others are made after. */
const SLUG = 'gold-usd';

export interface ReadSite {
  /** Of the directory store. */
  readonly folder: string;
  readonly nginx: NginxSite;
  /** The markets of the sample, for peers that render them. */
  readonly markets: readonly PeerMarket[];
  /** Adds this many markets, if they are not there yet, and gives the file of their URLs, one a line. */
  addMarkets(count: number): string;
}

/** The sample, ingested and published as `npm start` does it. */
export async function publishSite(workspace: Workspace): Promise<ReadSite> {
  const folder = workspace.folder('sample');
  const root = join(folder, 'objects');
  const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'), { exclusive: true });
  const objects = await openDirectoryObjects(root);
  for (const { market, observations } of await readSample()) await ingest(ledger, [market, ...observations]);
  await publish({ ...dependenciesOn(ledger), objects, ...DEPLOYMENT });
  const markets: PeerMarket[] = [];
  for (const { sort: slug } of await readAll(ledger, MARKET_INDEX)) {
    const item = await ledger.get(marketKey(slug));
    if (item) markets.push({ slug, revision: item.revision, record: item.value });
  }
  ledger.close();
  const nginx = new NginxSite(workspace);
  nginx.writeList((await stored(objects, publicKey({ kind: 'market-list' }))).body);
  const original = await stored(objects, publicKey({ kind: 'market', slug: SLUG }));
  nginx.writeMarket(SLUG, original.body);
  const index = new ObjectIndex(indexPath(root));
  const made = new Map<number, string>();
  const addMarkets = (count: number) => {
    const known = made.get(count);
    if (known !== undefined) return known;
    const urls = Array.from({ length: count }, (_, place) =>
      addMarket(root, index, nginx, original, syntheticSlug(place)),
    );
    const file = join(workspace.folder('urls'), `${count}.txt`);
    writeFileSync(file, `${urls.join('\n')}\n`);
    made.set(count, file);
    return file;
  };
  return { folder: root, nginx, markets, addMarkets };
}

async function stored(objects: ObjectStore, key: string): Promise<StoredObject> {
  const found = await objects.get(key);
  if (found.kind !== 'found') throw new Error(`the sample has not published ${key}`);
  return found;
}

/**
 * Writes the object's file in the store's format, but not by a put: nobody relies on it after a crash, and two hundred
 * thousand syncs would take longer than the measurement.
 */
function addMarket(root: string, index: ObjectIndex, nginx: NginxSite, original: StoredObject, slug: string): string {
  const key = publicKey({ kind: 'market', slug });
  const body = Buffer.from(Buffer.from(original.body).toString('utf8').replaceAll(SLUG, slug));
  const { cacheTag } = original.metadata;
  const metadata = { ...original.metadata, cacheTag: cacheTag === null ? null : slug };
  const path = objectFile(root, key, metadata);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, body);
  index.put(key, { current: { digest: bodyDigest(body), sizeBytes: body.length, metadata }, next: null });
  nginx.writeMarket(slug, body);
  return marketUrl(slug);
}
