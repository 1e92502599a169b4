/** The names of the files that each market has. */
import { PRICE_EXTENSIONS, type PublicObjectName } from '../../../contract/files/public-object-names.ts';

export function marketCompatNames(slug: string): readonly PublicObjectName[] {
  const prices = PRICE_EXTENSIONS.map((extension) => ({ kind: 'compat-prices', slug, extension }) as const);
  return [...prices, { kind: 'compat-quotes', slug }];
}
