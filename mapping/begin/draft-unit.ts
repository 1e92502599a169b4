/** Writes the unit of the starting mapping's markets. */
import { FILL_IN } from '../parse-jsonc.ts';
import { type CommentedField, type CommentedObject, field, object } from './commented-json.ts';
import { freeName, type MappingDraft } from './draft.ts';
import type { DraftQuantity } from './draft-quantity.ts';

const UNIT_NAME = /^(unit|uom|unit[_ ]?of[_ ]?measure)$/i;

/** The unit, and the fields of the table that tells `50 KG` apart into 50 and KG; null if none is needed. */
export function draftUnit(
  { guess, table: { columns } }: MappingDraft,
  quantity: DraftQuantity,
): { readonly unit: CommentedObject; readonly table: readonly CommentedField[] | null } {
  const column = guess.market.match.find(({ name }) => UNIT_NAME.test(name));
  if (column === undefined) {
    const of = `${FILL_IN}: the thing that the price buys, such as barrel, kg or EUR`;
    return { unit: object(field('quantity', quantity.template), field('of', of)), table: null };
  }
  const packs = [...(column.distinct?.keys() ?? [])].toSorted().map((text) => ({ text, pack: packOf(text) }));
  if (quantity.isLarger || packs.every(({ pack }) => pack === null)) {
    return { unit: object(field('quantity', quantity.template), field('of', `{${column.name}}`)), table: null };
  }
  const [count, of] = [freeName(columns, 'quantity'), freeName(columns, 'unitOfOne')];
  return {
    unit: object(field('quantity', `{${count}}`), field('of', `{${of}}`)),
    table: [
      field('key', `{${column.name}}`),
      field('columns', [count, of], 'The quantity must be a whole number: 1.5 KG is 1500 g.'),
      field('rows', object(...packs.map(({ text, pack }) => field(text, pack ?? ['1', text])))),
    ],
  };
}

/** `50 KG` as 50 and KG. Null: no whole number of something. */
function packOf(text: string): readonly [quantity: string, of: string] | null {
  const [, quantity, of] = /^([1-9]\d{0,8}) *([^\d\s.,]\D*)$/.exec(text) ?? [];
  return quantity === undefined || of === undefined ? null : [quantity, of];
}
