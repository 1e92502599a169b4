/** Writes the quantities of the starting mapping's markets. */
import { type CommentedField, field, object } from './commented-json.ts';
import { freeName, type MappingDraft } from './draft.ts';
import type { QuantityGuess } from './guess-quantity.ts';

export interface DraftQuantity {
  readonly template: string;
  /** Whether some market's quantity is more than one. */
  readonly isLarger: boolean;
  readonly comment: string;
  /** The table of the template's column, if markets differ. */
  readonly table: readonly CommentedField[] | null;
  readonly unfit: number;
  readonly numbers: number;
  readonly example: string;
}

export function draftQuantity(
  { byMarket, largest, ...counts }: QuantityGuess,
  { table: { columns }, match }: MappingDraft,
): DraftQuantity {
  const quantities = new Set(byMarket?.values() ?? [largest]);
  const why = 'in minor units, the price of one would lose digits.';
  if (byMarket === null || quantities.size <= 1) {
    const quantity = Math.max(1, ...quantities);
    const comment = quantity > 1 ? `Prices are for ${quantity} of it: ${why}` : '';
    return { template: String(quantity), isLarger: quantity > 1, comment, table: null, ...counts };
  }
  const rows = object(...[...byMarket].map(([market, quantity]) => field(market, [String(quantity)])));
  const name = freeName(columns, 'quantity');
  const key = match.map((column) => `{${column}}`).join('-');
  const table = [field('key', key), field('columns', [name]), field('rows', rows)];
  return { template: `{${name}}`, isLarger: true, comment: `Prices are for more than one: ${why}`, table, ...counts };
}
