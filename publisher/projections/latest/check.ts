/** Checks the files of newest and last prices: each row must follow from the bodies of its market. */
import { generationOfFile, jsonFileAt } from '../../../contract/files/file-generation.ts';
import { RECENT_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { RECENT_URL } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import { checkRowFiles, oneFile } from '../../verify/row-files.ts';
import { recentPricesOf } from '../../verify/shown-market.ts';
import { orderedRows, PART_FILES } from './check-parts.ts';

const RECENT_FILE = oneFile({
  kind: 'recent',
  url: RECENT_URL,
  contentType: PUBLIC_OBJECTS.recent.contentType,
  marketsMax: RECENT_MARKETS_MAX,
  rowsMax: Number.POSITIVE_INFINITY,
  rowsIn(text) {
    const { data } = JSON.parse(text) as { readonly data: readonly { readonly slug: string }[] };
    const rows = data.map((entry) => [entry.slug, canonicalJson(entry as Json)] as const);
    const file = jsonFileAt(`"data":[${rows.map(([, row]) => row).join(',')}]`);
    return file(generationOfFile(text)) === text ? orderedRows(rows) : null;
  },
  rowOf: (shown) => canonicalJson(recentPricesOf(shown).entryWithYear(shown.slug) as unknown as Json),
});

export const checkPrices = async (context: CheckContext) => await checkRowFiles(context, [PART_FILES, RECENT_FILE]);
