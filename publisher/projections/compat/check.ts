/** What must hold of the files for other programs: they show prices of the history, and of the list. */
import { publicPath } from '../../../contract/files/public-objects.ts';
import { DAILY_MS } from '../../verify/past-market.ts';
import type { CheckContext, LoggedCheck, LoggedContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { checkMarketFaces, checkRates, INCLUDES_URL, readIncluded } from './check-faces.ts';
import { LoggedFaces } from './check-logged-faces.ts';
import { includeFaces } from './includes.ts';

export async function checkCompat(context: CheckContext): Promise<ProjectionCheck> {
  const { reader, findings, kinds, share, snapshot } = context;
  const included = (await kinds.has('faces', INCLUDES_URL)) ? await readIncluded(reader) : null;
  if (included === null) return {};
  return {
    market: ({ market, history, findings: own }) =>
      checkMarketFaces(reader, own, market.value, history.observations, included),
    async end({ entries }) {
      for (const { name, text } of includeFaces([...included])) {
        const url = publicPath(name);
        if (!Buffer.from(text).equals((await reader(url)).body)) findings.add(url, 'file', 'includes other markets');
      }
      await checkRates(reader, findings, { generation: snapshot?.listGeneration ?? null, entries }, share);
    },
  };
}

export function checkLoggedCompat(context: LoggedContext): LoggedCheck {
  const { reader, findings, walk, nowMs, isAskedFor, miss } = context;
  const lateness = { nowMs, mostMs: DAILY_MS };
  const faces = new LoggedFaces(reader, findings, lateness);
  if (!isAskedFor('faces')) return {};
  return {
    async market(past, folded) {
      if (folded.kind === 'removed') return await faces.removed(past, folded.removal);
      const areMade = await faces.market(past, folded);
      if (!areMade && past.isLateIfMissing(lateness))
        miss('faces', publicPath({ kind: 'face-quotes', slug: past.slug }));
    },
    end: () => faces.shared(walk),
  };
}
