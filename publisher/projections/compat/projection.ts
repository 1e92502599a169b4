/**
 * Files for other programs: prices for beancount and hledger, quotes, rates of currencies. `makeCompat` makes them once a
 * day. A generation that removes a market only requests that they be made again.
 */
import { COMPAT_AGAIN_KEY } from '../../../storage/records/compat.ts';
import { type MarketContext, type MarketStep, NO_PART, type Projector } from '../../kernel/projection.ts';
import { unreachableCompat } from './reachable.ts';

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
