/** The markets that have changed last, as a file of the list's cadence. */
import { lastModified, type ModifiedRow, modifiedCsv, readModifiedCsv } from '../../../contract/bodies/modified.ts';
import { MODIFIED_URL } from '../../../contract/files/routes.ts';
import { listFile } from '../../kernel/list/list-file.ts';

export const modified = listFile<ModifiedRow, '' | null>({
  kind: 'modified',
  url: MODIFIED_URL,
  checkByLog: async (context) => await (await import('./check.ts')).checkModified(context),
  load: async () => ({
    rowsOf: (markets) => markets.map(({ slug, revision, updatedAt }) => ({ slug, revision, updatedAt })),
    beside: async () => null,
    text: (rows) => modifiedCsv(lastModified(rows)),
    besideIn: (text) => (readModifiedCsv(text) === null ? null : ''),
  }),
});
