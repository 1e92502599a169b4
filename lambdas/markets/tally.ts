/** Counts rows by their outcome. */

import {
  CORRECTIONS_MAX,
  type RowCounts,
  type ShownBeside,
  type ShownCorrection,
} from '../../contract/ingest/row-counts.ts';
import type { RowTotals } from '../../storage/records/batches.ts';
import type { MarketDecision } from './market-decision.ts';
import { recordedValueText } from './recorded-value-text.ts';
import type { RowFault } from './rules/check-rows.ts';

export type Tally = RowTotals & {
  /** The new revision of each changed market, by slug. */
  readonly revisions: { readonly [slug: string]: number };
};

export function tallyOf(decisions: readonly MarketDecision[]): Tally {
  const counts = { accepted: 0, unchanged: 0, refused: 0, corrected: 0, retracted: 0, besides: 0 };
  let firstBeside: ShownBeside | undefined;
  const revisions: { [slug: string]: number } = {};
  for (const { slug, outcomes, record } of decisions) {
    for (const outcome of outcomes.values()) {
      counts[outcome.kind]++;
      if (outcome.kind === 'accepted' && outcome.corrects !== undefined) counts.corrected++;
      if (outcome.kind === 'accepted' && outcome.beside !== undefined) {
        counts.besides++;
        firstBeside ??= outcome.beside;
      }
      if (outcome.kind === 'unchanged' && outcome.isRetracted) counts.retracted++;
    }
    if (record !== null) revisions[slug] = record.revision;
  }
  return { ...addTotals({ ...counts, ...(firstBeside && { firstBeside }) }, NO_ROWS), revisions };
}

export const NO_ROWS: RowTotals = { accepted: 0, unchanged: 0, refused: 0 };

/** The sum of two totals. Counts that are usually zero are left out if they are. */
export function addTotals(one: RowTotals, other: RowTotals): RowTotals {
  const corrected = (one.corrected ?? 0) + (other.corrected ?? 0);
  const retracted = (one.retracted ?? 0) + (other.retracted ?? 0);
  const besides = (one.besides ?? 0) + (other.besides ?? 0);
  const firstBeside = one.firstBeside ?? other.firstBeside;
  const corrections = [...(one.corrections ?? []), ...(other.corrections ?? [])].slice(0, CORRECTIONS_MAX);
  return {
    accepted: one.accepted + other.accepted,
    unchanged: one.unchanged + other.unchanged,
    refused: one.refused + other.refused,
    ...(corrected > 0 && { corrected }),
    ...(retracted > 0 && { retracted }),
    ...(besides > 0 && { besides }),
    ...(firstBeside && { firstBeside }),
    ...(corrections.length > 0 && { corrections }),
  };
}

/** The counts as answers have them. Stored values have them among other members. */
export function countsOf({ accepted, unchanged, refused, ...rare }: RowTotals): {
  readonly counts: RowCounts;
  readonly corrections?: ShownCorrection[];
  readonly firstBeside?: ShownBeside;
} {
  const { corrected, retracted, besides, corrections, firstBeside } = rare;
  const parts = {
    ...(corrected !== undefined && { corrected }),
    ...(retracted !== undefined && { retracted }),
    ...(besides !== undefined && { besides }),
  };
  const shown = {
    ...(corrections !== undefined && { corrections }),
    ...(firstBeside !== undefined && { firstBeside }),
  };
  return { counts: { accepted, unchanged, refused, ...parts }, ...shown };
}

/** The first corrections, in the order of the rows. */
export function correctionsOf(decisions: readonly MarketDecision[]): ShownCorrection[] {
  return decisions
    .flatMap(({ slug, outcomes }) => [...outcomes].map(([index, outcome]) => ({ slug, index, outcome })))
    .sort((one, other) => one.index - other.index)
    .flatMap(({ slug, outcome }) => {
      if (outcome.kind !== 'accepted' || outcome.corrects === undefined) return [];
      const { from, to, unit } = outcome.corrects;
      const [before, after] = [recordedValueText(from, unit, from.retraction), recordedValueText(to, unit)];
      const { metric, observedAt } = from;
      const shown = before === after ? 'the same value, with other details' : after;
      return [{ market: slug, metric, observedAt, from: before, to: shown }];
    })
    .slice(0, CORRECTIONS_MAX);
}

/** The faults of rows that a decision refuses. */
export function faultsOf({ outcomes }: MarketDecision): readonly RowFault[] {
  const faults: RowFault[] = [];
  for (const [index, outcome] of outcomes) {
    if (outcome.kind === 'refused') faults.push({ index, ...outcome.error });
  }
  return faults;
}
