/** The handler that removes a market. A removal is final, so two markets can never replace each other. */
import { marketKey } from '../../storage/records/markets.ts';
import { refusal } from '../http/refused-request.ts';
import { changedMarket } from '../markets/market-changes.ts';
import { removedDetail } from '../markets/removal.ts';
import { unchangedMarket } from '../markets/rules/standing.ts';
import { writeHandler } from '../pipeline/handler.ts';

/** Reads the market, and the market that replaces it. The transaction checks that both are unchanged. */
export const removeMarket = writeHandler<'removeMarket'>()({
  async read({ params: { slug }, body: { replacedBy } }, reader) {
    const keys = [slug, ...(replacedBy === null ? [] : [replacedBy])].map(marketKey);
    const [market = null, replacement = null] = await reader.getMany(keys);
    return { market, replacement };
  },
  markets: ({ params: { slug } }) => [slug],
  decide({ params: { slug }, body, now }, { market, replacement }) {
    if (market === null) throw refusal('not-found', `No market ${slug}: see /api/v1/markets.`);
    if (market.value.removal !== undefined) {
      throw refusal('conflict', `Nothing is left to do: ${removedDetail(slug, market.value.removal)}.`);
    }
    const { reason, replacedBy } = body;
    const fault = (code: string, detail: string) =>
      refusal('validation-failed', 'This market cannot replace the removed one: see errors.', {
        errors: [{ pointer: '/replacedBy', code, detail }],
      });
    if (replacedBy === slug) throw fault('market.itself', 'a market cannot replace itself: name another one, or null');
    if (replacedBy !== null && replacement === null) {
      throw fault('market.unknown', `no market ${replacedBy}: see /api/v1/markets`);
    }
    if (replacedBy !== null && replacement?.value.removal !== undefined) {
      throw fault('market.removed', removedDetail(replacedBy, replacement.value.removal));
    }
    const removal = { reason, replacedBy, removedAt: now };
    return {
      target: `market/${slug}`,
      changes: [
        ...changedMarket(slug, market, { removal }, now),
        ...(replacedBy === null ? [] : [unchangedMarket(replacedBy, replacement)]),
      ],
      response: { body: { slug, ...removal, revision: market.revision + 1 } },
    };
  },
});
