/** A market as the log had it earlier: what lists, and files that are made now and then, may still show. */
import type { LogFold } from '../log/fold.ts';
import { foldObservations } from '../log/fold-observations.ts';
import { addFact, type FoldedMarket, noFacts, recordOf } from '../log/folded-market.ts';

export interface PastMoment {
  /** Leaves later entries of the market out. Default: none is later. */
  readonly revision?: number;
  /** Leaves later entries of the log out. Default: none is later. */
  readonly size?: number;
}

/**
 * Null if the log did not show the market then. Its `revision` is the newest one up to there: another one than was asked
 * for was never public, or is not in the log yet.
 *
 * @param fold keeps the past
 * @throws LogFaultError if the entries contradict each other
 */
export function marketAt(
  fold: LogFold,
  slug: string,
  { revision = Number.POSITIVE_INFINITY, size = Number.POSITIVE_INFINITY }: PastMoment,
): FoldedMarket | null {
  const entries = fold.entriesOf(slug, size).filter(({ entry }) => entry.revision <= revision);
  if (entries.length === 0) return null;
  const facts = noFacts();
  for (const { entry } of entries) addFact(facts, entry);
  if (facts.removal !== null) return null;
  const observations = entries.flatMap(({ entry }) => (entry.type === 'observation' ? [entry] : []));
  return recordOf(slug, facts, foldObservations(slug, observations));
}
