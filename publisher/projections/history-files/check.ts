/** What must hold of the files of histories: they have what the pages have. */
import { historyFileUrl } from '../../../contract/files/routes.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { checkFilesInTurn } from './check-older-files.ts';

export function checkHistories({ reader, findings, kinds }: CheckContext): ProjectionCheck {
  return {
    async market({ item: { slug }, history }) {
      if (await kinds.has('history-files', historyFileUrl(slug, 'csv', null)))
        await checkFilesInTurn(reader, findings, slug, history);
    },
  };
}
