/** Reads an edition as if it were the whole service, so that `verify` checks its every promise. */
import { canonicalJson } from '../../contract/canonical-json.ts';
import { publicEditionSchema } from '../../contract/public-edition.ts';
import { editionUrl, MARKETS_URL, SNAPSHOT_URL } from '../../contract/routes.ts';
import type { PublicReader } from './reader.ts';

/** URLs that an edition has too: the list, its markets and their histories. */
const IN_EDITIONS = new RegExp(`^${MARKETS_URL}(/[^/?]+(/history)?)?(\\?|$)`);

const OF_TODAY = /^\/api\/v1\/(markets\/|latest|recent|exports\/|faces\/)/;

/** In the place of the snapshot, it gives what the edition says of its generation. */
export function editionReader(reader: PublicReader, name: string): PublicReader {
  return async (url, headers) => {
    if (IN_EDITIONS.test(url)) {
      const answer = await reader(editionUrl(name) + url.slice('/api/v1'.length), headers);
      // It leads to a URL of the edition, which the one who reads does not know.
      return { ...answer, headers: new Map([...answer.headers].filter(([field]) => field !== 'link')) };
    }
    // Files beside the bodies are of today: an edition has none.
    if (OF_TODAY.test(url)) return { status: 404, headers: new Map(), body: new Uint8Array() };
    if (url !== SNAPSHOT_URL) return await reader(url, headers);
    const answer = await reader(editionUrl(name), headers);
    if (answer.status !== 200) return answer;
    const edition = publicEditionSchema.safeParse(JSON.parse(Buffer.from(answer.body).toString('utf8')));
    if (!edition.success) return answer;
    const { counts, generation, listDigest, log, publishedAt } = edition.data;
    const snapshot = canonicalJson({
      counts,
      generation,
      listDigest,
      listGeneration: generation,
      publishedAt,
      ...(log && { log }),
    });
    return { ...answer, body: Buffer.from(snapshot) };
  };
}
