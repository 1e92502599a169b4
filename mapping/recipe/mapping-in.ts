/** A mapping to test: alone, or as part of a recipe. */

import type { CsvMapping } from '../declared/csv-mapping.ts';
import type { MappingFaults } from '../declared/parse-jsonc.ts';
import { readJsonc } from '../declared/parse-jsonc.ts';
import { parseMapping } from '../declared/parse-mapping.ts';
import { withSourceTexts } from './derive-records.ts';
import { parseRecipe } from './recipe.ts';

type MappingIn = { readonly mapping: CsvMapping; readonly isOfRecipe: boolean } | { readonly faults: MappingFaults };

/**
 * As `parseMappingText`. A recipe is checked as a whole. Its mapping is the one that `deriveRecords` uses, which may read
 * columns of the run.
 */
export function parseMappingIn(text: string): MappingIn {
  return readJsonc(text, (document) => {
    if (!isRecipe(document)) {
      const result = parseMapping(document);
      return 'mapping' in result ? { ...result, isOfRecipe: false } : result;
    }
    const result = parseRecipe(document);
    return 'recipe' in result ? { mapping: withSourceTexts(result.recipe), isOfRecipe: true } : result;
  });
}

/** Whether the document has fields that no mapping has. */
function isRecipe(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'mapping' in document && 'url' in document;
}
