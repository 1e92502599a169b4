/** What must hold of the newest prices: they are those of the list and of the histories. */

import { LATEST_CSV_URL, LATEST_URL, RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { checkLatest, ReadPrices } from './check-latest.ts';

export function checkPrices({ reader, findings, kinds }: CheckContext): ProjectionCheck {
  const prices = new ReadPrices();
  return {
    async market({ item, market, history: { observations } }) {
      const isSame = observations.length === market.value.history.count;
      if (isSame && market.text === canonicalJson(item)) prices.add(item.slug, observations);
    },
    async end({ head, entries }) {
      if (head === null) return;
      const isLatest = (await kinds.has('latest', LATEST_URL)) || (await kinds.has('latest', LATEST_CSV_URL));
      const isRecent = await kinds.has('recent', RECENT_URL);
      const names = [...(isLatest ? (['latest'] as const) : []), ...(isRecent ? (['recent'] as const) : [])];
      await checkLatest(reader, findings, { entries, digest: head.digest, prices }, names);
    },
  };
}
