/** Checks `modified.csv` by the log: each row must be a state that the log had of its market, and the newest comes first. */
import { lastModified, MODIFIED_ROWS_MAX, modifiedCsv, readModifiedCsv } from '../../../contract/bodies/modified.ts';
import { LIST_FILE_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { MODIFIED_URL } from '../../../contract/files/routes.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import { checkRowFiles, oneFile } from '../../verify/row-files.ts';

const FILE = oneFile({
  kind: 'feeds',
  url: MODIFIED_URL,
  contentType: PUBLIC_OBJECTS.modified.contentType,
  marketsMax: LIST_FILE_MARKETS_MAX,
  rowsMax: MODIFIED_ROWS_MAX,
  rowsIn(text) {
    const rows = [...(readModifiedCsv(text)?.values() ?? [])];
    if (modifiedCsv(lastModified(rows)) !== text) return null;
    return new Map(rows.map(({ slug, revision, updatedAt }) => [slug, `${revision} ${updatedAt}`]));
  },
  rowOf: ({ revision, market: { updatedAt } }) => `${revision} ${updatedAt}`,
});

export const checkModified = async (context: CheckContext) => await checkRowFiles(context, [FILE]);
