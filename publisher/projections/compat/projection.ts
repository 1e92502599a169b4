/**
 * Files for other programs: prices for beancount and hledger, quotes, rates of currencies. `makeCompat` makes them once a
 * day. A generation that removes a market only requests that they be made again.
 */
import { COMPAT_AGAIN_KEY } from '../../../storage/records/compat.ts';
import { type MarketContext, type MarketStep, NO_PART, type Projector } from '../../kernel/projection.ts';
import { unreachableCompat } from './reachable.ts';

const RATES = '/api/v1/compat/currency-api/{date}/v1/currencies';

export const compat: Projector = {
  name: 'compat',
  kinds: ['compat-json', 'compat-text'],
  check: async (context) => await (await import('./check.ts')).checkCompat(context),
  isInLog: true,
  // No `leadUrl`: the index and the lists of currencies stay equal on most days, and a removal makes parts again on the same day. A
  // body that leads would be one more public file for the mirrors of this projection alone.
  daily: async (context) => {
    if (context.storage.projections?.has('compat') !== true) return null;
    return await (await import('./make-compat.ts')).makeCompat(context);
  },
  describe: {
    what: 'Prices for beancount and hledger, quotes, rates of currencies, and prices of language models.',
    paths: [
      '/api/v1/compat/parts.json',
      ...['{part}', 'prices'].map((file) => `/api/v1/compat/beancount/${file}.beancount`),
      ...['{part}', 'prices'].map((file) => `/api/v1/compat/hledger/${file}.journal`),
      '/api/v1/compat/genai-prices/latest.json',
      '/api/v1/compat/litellm/{date}.json',
      '/api/v1/compat/litellm/index.json',
      '/api/v1/compat/quotes/{part}.json',
      `${RATES}.json`,
      `${RATES}/{code}.json`,
    ],
  },
  reachable: { unreachable: unreachableCompat },
  plan: async () => ({ market: askAgain, finish: async () => ({ state: undefined }) }),
};

/** So a removed market leaves its part within minutes, not after a day. */
async function askAgain({ dependencies: { projections }, view }: MarketContext): Promise<MarketStep | undefined> {
  const { record, published } = view;
  if (record?.value.removal === undefined || published === null || published.isRemoved) return undefined;
  if (projections?.has('compat') !== true) return undefined;
  const line = { kind: 'record', key: COMPAT_AGAIN_KEY, value: {} } as const;
  return { finish: async () => ({ ...NO_PART, lines: [line] }) };
}
