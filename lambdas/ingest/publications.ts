/** The handlers of publications. The worker sets the marks; then the publication waits for a generation. */
import type { Publication } from '../../contract/operations/publications.ts';
import { created } from '../../storage/ports/changes.ts';
import { workKey } from '../../storage/records/batches.ts';
import { marketKey } from '../../storage/records/markets.ts';
import {
  type GenerationOfValue,
  generationOfKey,
  type PublicationValue,
  publicationKey,
} from '../../storage/records/publication.ts';
import { refusal } from '../http/refused-request.ts';
import { type ReadHandler, writeHandler } from '../pipeline/handler.ts';

/** Reads which of the markets exist. A mark on a market that is removed later does no harm. */
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
      throw refusal('validation-failed', 'Not every slug names a market: see errors.', { errors });
    }
    const id = request.newId('pub');
    const { markets, purge } = request.body;
    const value: PublicationValue = { id, markets: markets === 'all' ? null : markets, purge, createdAt: request.now };
    return {
      target: `publication/${id}`,
      changes: [
        created(publicationKey(id), value),
        created(workKey(id), {
          kind: 'refresh',
          markets: value.markets,
          after: '',
          publication: id,
          lane: id,
          lease: null,
        }),
      ],
      response: { body: toPublication(value, null), location: `/api/v1/publications/${id}` },
    };
  },
});

export const getPublication: ReadHandler<'getPublication'> = async ({ params: { id } }, { reader }) => {
  const [item, answer] = await reader.getMany([publicationKey(id), generationOfKey(`publication/${id}`)]);
  if (!item) throw refusal('not-found', 'No such publication.');
  return { body: toPublication(item.value, answer?.value ?? null) };
};

function toPublication(
  { id, markets, purge, createdAt }: PublicationValue,
  answer: GenerationOfValue | null,
): Publication {
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
