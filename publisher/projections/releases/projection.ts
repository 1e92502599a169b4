/** When each source is expected next, as a calendar of the list's cadence. It changes with cadences, not with values. */
import { RELEASES_URL } from '../../../contract/files/routes.ts';
import { listFile } from '../../kernel/list/list-file.ts';

export const releases = listFile({
  kind: 'releases',
  url: RELEASES_URL,
  load: async () => (await import('./calendar.ts')).CALENDAR,
});
