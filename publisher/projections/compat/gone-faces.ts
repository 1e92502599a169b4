/** The faces of removed markets. All others are made by a daily job. */
import { canonicalJson } from '../../../contract/canonical-json.ts';
import { publicKey } from '../../../contract/public-objects.ts';
import { removedMarketDocument } from '../../../contract/removed-market.ts';
import { marketFacesKey } from '../../../storage/records/faces.ts';
import { rendered } from '../../core/bodies/render.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { HeadPut } from '../../kernel/bundle.ts';
import type { MarketView } from '../../kernel/market-view.ts';
import { storedDigest } from '../../kernel/stored-digest.ts';
import type { FilesPlan } from '../history-files/plan-files.ts';
import { marketFaceNames } from './face-names.ts';

/** Of a removed market, adds the problem documents in the place of its faces, if it has some. */
export async function withGoneFaces(
  { ledger, objects }: Pick<PublisherStorage, 'ledger' | 'objects'>,
  { slug, record }: MarketView,
  files: FilesPlan,
): Promise<FilesPlan> {
  const removal = record?.value.removal;
  if (removal === undefined || (await ledger.get(marketFacesKey(slug))) === null) return files;
  const { body, digest } = rendered(canonicalJson(removedMarketDocument(removal)));
  const gone: HeadPut[] = [];
  for (const name of marketFaceNames(slug)) {
    if ((await storedDigest(objects, name, null, true)) === digest) continue;
    gone.push({ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone: true });
  }
  return { ...files, gone: [...files.gone, ...gone] };
}
