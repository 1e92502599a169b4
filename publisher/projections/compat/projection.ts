/**
 * Files for other programs: prices for beancount and hledger, quotes, rates of currencies. They are made once a day, by
 * `makeFaces`. A generation only puts the problem documents of a removed market in their place.
 */

import { PRICE_EXTENSIONS } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { marketFacesKey } from '../../../storage/records/faces.ts';
import type { HeadPut } from '../../kernel/bundle.ts';
import { type MarketContext, type MarketStep, NO_PART, type Projector } from '../../kernel/projection.ts';
import { rendered } from '../../kernel/rendered.ts';
import { storedDigest } from '../../kernel/stored-digest.ts';
import { marketFaceNames } from './face-names.ts';
import { unreachableFaces } from './reachable.ts';

export const compat: Projector = {
  name: 'compat',
  kinds: ['face-rates', 'face-prices', 'face-includes', 'face-quotes'],
  check: async (context) => await (await import('./check.ts')).checkCompat(context),
  checkLogged: async (context) => (await import('./check.ts')).checkLoggedCompat(context),
  isDaily: true,
  describe: {
    what: 'Prices for beancount and hledger, quotes, and rates of currencies.',
    paths: [
      ...PRICE_EXTENSIONS.flatMap((end) => [`/api/v1/faces/prices/{slug}.${end}`, `/api/v1/faces/prices.${end}`]),
      '/api/v1/faces/quotes/{slug}.json',
      ...['currencies', 'currencies/{code}'].map((file) => `/api/v1/faces/currency-api/{date}/v1/${file}.json`),
    ],
  },
  reachable: { unreachable: unreachableFaces },
  plan: async () => ({ market: goneFaces, finish: async () => ({ state: undefined }) }),
};

async function goneFaces({ dependencies, view: { slug, record } }: MarketContext): Promise<MarketStep | undefined> {
  const { ledger, objects } = dependencies;
  const removal = record?.value.removal;
  if (removal === undefined || (await ledger.get(marketFacesKey(slug))) === null) return undefined;
  const { body, digest } = rendered(canonicalJson(removedMarketDocument(removal)));
  const gone: HeadPut[] = [];
  for (const name of marketFaceNames(slug)) {
    if ((await storedDigest(objects, name, null, true)) === digest) continue;
    gone.push({ kind: 'put', key: publicKey(name), body, nextCursor: null, isGone: true });
  }
  return { finish: async () => ({ ...NO_PART, gone }) };
}
