/** Counts rows by their outcome. */

import {
  CORRECTIONS_MAX,
  ROW_COUNT_PARTS,
  type RowCountParts,
  type RowCounts,
  type ShownBeside,
  type ShownCorrection,
  type ShownWithheld,
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
  const counts = { accepted: 0, unchanged: 0, refused: 0 };
  const parts: RowCountParts = {};
  const add = (part: keyof RowCountParts) => {
    parts[part] = (parts[part] ?? 0) + 1;
  };
  let firstBeside: ShownBeside | undefined;
  let firstWithheld: ShownWithheld | undefined;
  const revisions: { [slug: string]: number } = {};
  for (const { slug, outcomes, record } of decisions) {
    for (const outcome of outcomes.values()) {
      counts[outcome.kind]++;
      if (outcome.kind === 'unchanged' && outcome.isRetracted) add('retracted');
      if (outcome.kind !== 'accepted') continue;
      const { counts: part, corrects, beside, withheld } = outcome;
      if (part !== undefined) add(part);
      if (corrects !== undefined) add('corrected');
      if (corrects !== undefined && corrects.from.retraction !== null) add('reinstated');
      if (beside !== undefined) add('besides');
      firstBeside ??= beside;
      if (withheld !== undefined) add('withheld');
      firstWithheld ??= withheld;
    }
    if (record !== null) revisions[slug] = record.revision;
  }
  return {
    ...counts,
    ...parts,
    ...(firstBeside && { firstBeside }),
    ...(firstWithheld && { firstWithheld }),
    revisions,
  };
}

export const NO_ROWS: RowTotals = { accepted: 0, unchanged: 0, refused: 0 };

/**
 * A version of the worker drops parts of the counts that only a later version knows. So during an upgrade, such a part of a batch
 * that both work on may be too low; the counts of accepted, unchanged and refused records are right.
 */
export function addTotals(one: RowTotals, other: RowTotals): RowTotals {
  const firstBeside = one.firstBeside ?? other.firstBeside;
  const firstWithheld = one.firstWithheld ?? other.firstWithheld;
  const corrections = [...(one.corrections ?? []), ...(other.corrections ?? [])].slice(0, CORRECTIONS_MAX);
  return {
    accepted: one.accepted + other.accepted,
    unchanged: one.unchanged + other.unchanged,
    refused: one.refused + other.refused,
    ...partsOf((part) => (one[part] ?? 0) + (other[part] ?? 0)),
    ...(firstBeside && { firstBeside }),
    ...(firstWithheld && { firstWithheld }),
    ...(corrections.length > 0 && { corrections }),
  };
}

function partsOf(countOf: (part: keyof RowCountParts) => number): RowCountParts {
  return Object.fromEntries(
    ROW_COUNT_PARTS.map((part) => [part, countOf(part)] as const).filter(([, count]) => count > 0),
  );
}

/** The counts as answers have them. Stored values have them among other members. */
export function countsOf({
  accepted,
  unchanged,
  refused,
  corrections,
  firstBeside,
  firstWithheld,
  ...totals
}: RowTotals): {
  readonly counts: RowCounts;
  readonly corrections?: ShownCorrection[];
  readonly firstBeside?: ShownBeside;
  readonly firstWithheld?: ShownWithheld;
} {
  const shown = {
    ...(corrections !== undefined && { corrections }),
    ...(firstBeside !== undefined && { firstBeside }),
    ...(firstWithheld !== undefined && { firstWithheld }),
  };
  return { counts: { accepted, unchanged, refused, ...partsOf((part) => totals[part] ?? 0) }, ...shown };
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
