/** What must hold of the files for other programs: they show prices of the history, and of the list. */
import { DAILY_MS } from '../../verify/past-market.ts';
import type {
  CheckContext,
  LoggedCheck,
  LoggedContext,
  ProjectionCheck,
  ReadMarket,
} from '../../verify/projection-check.ts';
import { LoggedCompat } from './check-logged.ts';
import { ModelCheck } from './check-models.ts';
import { checkRates } from './check-rates.ts';
import { isModel } from './model-prices.ts';
import { PARTS_URL, PartReader } from './read-parts.ts';

export async function checkCompat(context: CheckContext): Promise<ProjectionCheck> {
  const { reader, findings, kinds, share, snapshot } = context;
  const parts = (await kinds.has('compat', PARTS_URL)) ? await PartReader.open(reader, findings) : null;
  if (parts === null || parts.index === null) return {};
  const models = await ModelCheck.open(reader, findings, 'file');
  return {
    async market(read) {
      const { market, history } = read;
      await checkSections(parts, read);
      const isWhole = history.observations.length === market.value.history.count;
      if (isWhole && isModel(market.value)) models?.add(market.value, history.observations);
    },
    async end({ entries }) {
      await parts.checkIndex();
      await models?.end();
      await checkRates(reader, findings, { generation: snapshot?.listGeneration ?? null, entries }, share);
    },
  };
}

export async function checkLoggedCompat(context: LoggedContext): Promise<LoggedCheck> {
  const { reader, findings, walk, nowMs, isAskedFor, miss } = context;
  if (!isAskedFor('compat')) return {};
  const lateness = { nowMs, mostMs: DAILY_MS };
  const compat = await LoggedCompat.open(reader, findings, lateness);
  return {
    async market(past, folded) {
      if (folded.kind === 'removed') return await compat.removed(past, folded.removal);
      const areMade = await compat.market(past, folded);
      if (!areMade && past.isLateIfMissing(lateness)) miss('compat', PARTS_URL);
    },
    end: () => compat.shared(walk),
  };
}

/** Files are made once a day, so they may show an earlier revision than the market. Then only their presence is checked. */
async function checkSections(
  parts: PartReader,
  { findings, market: { value: market }, history: { observations } }: ReadMarket,
): Promise<void> {
  // It may be new since then.
  if (parts.index?.has(market.slug) !== true) return;
  const sections = await parts.sectionsOf(market.slug);
  const isCurrent = sections.some(({ read }) => read?.revision === market.revision);
  const isWhole = observations.length === market.history.count;
  const expected = isCurrent && isWhole ? await parts.expected({ market, observations }) : null;
  for (const [index, { url, read }] of sections.entries()) {
    if (read === undefined) findings.add(url, 'file', `has no prices of ${market.slug}`);
    else if (expected !== null && !expected.some(({ digests }) => digests[index] === read.digest))
      findings.add(url, 'file', `differs from the prices of the history of ${market.slug}`);
  }
}
