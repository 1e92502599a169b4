/** What must hold of the files of histories: they have what the pages have. */
import { historyFilesDue } from '../../../contract/bodies/history-files.ts';
import { historyFileUrl } from '../../../contract/files/routes.ts';
import { DAILY_MS } from '../../verify/past-market.ts';
import type { CheckContext, LoggedCheck, LoggedContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { checkFilesInTurn } from './check-older-files.ts';

export function checkHistories({ reader, kinds }: CheckContext): ProjectionCheck {
  return {
    async market({ item: { slug }, history, findings }) {
      if (await kinds.has('history-files', historyFileUrl(slug, 'csv', null)))
        await checkFilesInTurn(reader, findings, slug, history);
    },
  };
}

/** Their bytes are compared with the log together with the pages. */
export function checkThatFilesAreThere({ reader, nowMs, isAskedFor, miss }: LoggedContext): LoggedCheck {
  return {
    async market(past, folded) {
      if (folded.kind !== 'shown' || !isAskedFor('history-files')) return;
      const { hasWhole } = historyFilesDue(folded.observations.length, 0);
      const url = historyFileUrl(past.slug, 'csv', null);
      if (hasWhole && past.isLateIfMissing({ nowMs, mostMs: DAILY_MS }) && (await reader(url)).status === 404)
        miss('history-files', url);
    },
  };
}
