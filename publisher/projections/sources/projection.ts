/** The sources of all markets, as a file of the list's cadence, which is also published when a source was fetched. */
import { SOURCES_FILE_URL } from '../../../contract/files/routes.ts';
import { listFile } from '../../kernel/list/list-file.ts';

export const sources = listFile({
  kind: 'sources',
  url: SOURCES_FILE_URL,
  load: async () => (await import('./source-rows.ts')).SOURCES_FILE,
});
