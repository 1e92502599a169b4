/** The files that include the price files of all pairs. */
import { PRICE_EXTENSIONS, type PriceExtension } from '../../../contract/files/public-object-names.ts';
import type { CompatFile } from './market-sections.ts';

const LINES: { readonly [Extension in PriceExtension]: (path: string) => string } = {
  beancount: (path) => `include "${path}"\n`,
  journal: (path) => `include ${path}\n`,
};

/** @param slugs one market for each pair of a commodity and a currency */
export function includeFiles(slugs: readonly string[]): readonly CompatFile[] {
  return PRICE_EXTENSIONS.map((extension) => ({
    name: { kind: 'compat-includes', extension },
    text: slugs.map((slug) => LINES[extension](`prices/${slug}.${extension}`)).join(''),
  }));
}
