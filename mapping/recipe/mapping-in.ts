/** A mapping to try out: alone, or as a part of a recipe. */
import { readJsonc } from '../declared/parse-jsonc.ts';
import { type MappingResult, parseMapping } from '../declared/parse-mapping.ts';
import { withSourceTexts } from './derive-records.ts';
import { parseRecipe } from './recipe.ts';

/** As `parseMappingText`. A recipe is checked as a whole; its mapping is that of `deriveRecords`. */
export function parseMappingIn(text: string): MappingResult {
  return readJsonc(text, (document) => {
    if (!isRecipe(document)) return parseMapping(document);
    const result = parseRecipe(document);
    return 'recipe' in result ? { mapping: withSourceTexts(result.recipe) } : result;
  });
}

/** No mapping has these fields. */
function isRecipe(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'mapping' in document && 'url' in document;
}
