/** What must hold of the files for other programs: they show prices of the history, and of the list. */
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { checkMarketCompat, checkRates, INCLUDES_URL, readIncluded } from './check-files.ts';

export async function checkCompat(context: CheckContext): Promise<ProjectionCheck> {
  const { reader, findings, kinds, share, snapshot } = context;
  const included = (await kinds.has('compat', INCLUDES_URL)) ? await readIncluded(reader) : null;
  if (included === null) return {};
  return {
    market: ({ market, history }) => checkMarketCompat(reader, findings, market.value, history.observations, included),
    end: ({ entries }) =>
      checkRates(reader, findings, { generation: snapshot?.listGeneration ?? null, entries }, share),
  };
}
