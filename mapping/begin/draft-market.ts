/** Writes the starting mapping's market. */
import { FILL_IN } from '../parse-jsonc.ts';
import { type CommentedObject, field, object } from './commented-json.ts';
import type { MappingDraft } from './draft.ts';

export function draftMarket(
  { guess, added, match }: MappingDraft,
  fileName: string,
  currency: string,
  unit: CommentedObject,
  unitComment: string,
): CommentedObject {
  const file =
    fileName
      .replace(/\.[^.]*?(\.gz|\.zst)?$/i, '')
      .toLowerCase()
      .match(/[a-z0-9]+/g)
      ?.join('-') || 'market';
  const key = added !== null && match.includes(added.name) ? match : guess.market.key.map(({ name }) => name);
  return object(
    field(
      'slug',
      [file, ...key.map((column) => `{${column}}`)].join('-'),
      'Becomes the public address of a market, and cannot change later.',
    ),
    field(
      'name',
      match.length === 0 ? `${FILL_IN}: the name of the market` : match.map((column) => `{${column}}`).join(', '),
    ),
    field('kind', `${FILL_IN}: a word such as fx, metal, commodity or food`),
    field('nativeCurrency', currency),
    field('unit', unit, unitComment),
    field('sources', [
      object(
        field('label', `${FILL_IN}: the name of the source, as readers see it`),
        field('url', `${FILL_IN}: the home page of the data`),
        field('publisher', `${FILL_IN}: who publishes the data; or null`),
        field('licence', `${FILL_IN}: its SPDX identifier, such as CC0-1.0; or null`),
        field('attribution', `${FILL_IN}: the words that the licence asks for; or null`),
      ),
    ]),
  );
}
