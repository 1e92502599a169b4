/** Checks `modified.csv` by the log: each row must be a state that the log had of its market, and the newest comes first. */
import { lastModified, MODIFIED_ROWS_MAX, modifiedCsv, readModifiedCsv } from '../../../contract/bodies/modified.ts';
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../../contract/files/public-objects.ts';
import { MODIFIED_URL } from '../../../contract/files/routes.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import { checkRowFiles, type RowFile } from '../../verify/row-files.ts';

const FILE: RowFile = {
  kind: 'feeds',
  url: MODIFIED_URL,
  contentType: PUBLIC_OBJECTS.modified.contentType,
  marketsMax: LATEST_MARKETS_MAX,
  rowsMax: MODIFIED_ROWS_MAX,
  read(text) {
    const rows = [...(readModifiedCsv(text)?.values() ?? [])];
    if (modifiedCsv(lastModified(rows)) !== text) return null;
    return new Map(rows.map(({ slug, revision, updatedAt }) => [slug, `${revision} ${updatedAt}`]));
  },
  rowOf: ({ revision, market: { updatedAt } }) => `${revision} ${updatedAt}`,
};

export const checkModified = async (context: CheckContext) => await checkRowFiles(context, [FILE]);
