/** The handlers of publications: marks for the publisher, and somebody who waits to be told the generation. */
import type { Json } from '../../contract/canonical-json.ts';
import type { Publication } from '../../contract/operations/publications.ts';
import type { Change, Condition, ItemKey } from '../../storage/ledger.ts';
import { marketKey } from '../../storage/records/markets.ts';
import {
  awaitingGenerationKey,
  type GenerationOfValue,
  generationOfKey,
  type PublicationValue,
  publicationKey,
  refreshMarkKey,
} from '../../storage/records/publication.ts';
import { type ReadHandler, refuse, writeHandler } from '../pipeline/handler.ts';

/**
 * Reads which of the markets are there. A condition could say so too, but a transaction has no room for one beside the two
 * marks of each market; and a mark of a market that has gone since does no harm.
 */
export const createPublication = writeHandler<'createPublication'>()({
  async read({ body: { markets } }, reader) {
    if (markets === 'all') return [];
    const items = await reader.getMany(markets.map(marketKey));
    return markets.flatMap((slug, index) => (items[index] === null ? [{ slug, index }] : []));
  },
  decide(request, unknown) {
    if (unknown.length > 0) {
      const errors = unknown.map(({ slug, index }) => ({
        pointer: `/markets/${index}`,
        code: 'market.unknown',
        detail: `no market ${slug}: see /api/v1/markets`,
      }));
      return refuse('validation-failed', 'Not every slug is one of a market: see errors.', { errors });
    }
    const id = request.newId('pub');
    const { markets, purge } = request.body;
    const value: PublicationValue = { id, markets: markets === 'all' ? null : markets, purge, createdAt: request.now };
    return {
      kind: 'commit',
      target: `publication/${id}`,
      changes: [
        put(publicationKey(id), value, { kind: 'absent' }),
        put(awaitingGenerationKey(`publication/${id}`), null, { kind: 'any' }),
        ...marksOf(markets).map((key) => put(key, null, { kind: 'any' })),
      ],
      response: { body: shown(value, null), location: `/api/v1/publications/${id}` },
    };
  },
});

export const getPublication: ReadHandler<'getPublication'> = {
  async answer({ params: { id } }, { reader }) {
    const [item, answer] = await reader.getMany([publicationKey(id), generationOfKey(`publication/${id}`)]);
    if (!item) return refuse('not-found', 'No such publication.');
    return { body: shown(item.value, answer?.value ?? null) };
  },
};

/**
 * Closed history pages are rendered again too, from the oldest on: after a change of how they are rendered an operator
 * must be able to see the whole of one market as it will be.
 */
function marksOf(markets: 'all' | readonly string[]): readonly ItemKey[] {
  if (markets === 'all') return [];
  return markets.map(refreshMarkKey);
}

function put(key: ItemKey, value: Json, condition: Condition): Change {
  return { kind: 'put', key, revision: 0, value, if: condition };
}

function shown({ id, markets, purge, createdAt }: PublicationValue, answer: GenerationOfValue | null): Publication {
  return {
    id,
    markets: markets ?? 'all',
    purge,
    createdAt,
    state: answer === null ? 'waiting' : 'published',
    generation: answer?.generation ?? null,
    publishedAt: answer?.publishedAt ?? null,
  };
}
