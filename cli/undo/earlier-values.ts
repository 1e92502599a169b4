/**
 * The records that restore the values of a market from before some moments of recording. Pure. Nothing is erased: an added
 * value is retracted as a mistake, a replaced value is corrected back, and the history shows both.
 */
import { decimalOf } from '../../clients/typescript/decimal-of.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { isNearestAmount } from '../../contract/values/money/money.ts';

interface UndoneMarket {
  readonly slug: string;
  /** The quantity that one price of the market buys. */
  readonly quantity: number;
}

export interface EarlierValue {
  /** The newest version, which is undone. */
  readonly wrong: PublicObservation;
  /** The newest version that was not selected. Null: the observation did not exist before. */
  readonly before: PublicObservation | null;
  readonly record: IngestRecordInput;
}

export interface EarlierValues {
  readonly values: readonly EarlierValue[];
  /** Observations with a selected version that was superseded later. They are not changed. */
  readonly replacedSince: readonly PublicObservation[];
}

export interface Reasons {
  /** The reason of the retractions. The service stores it and does not publish it. */
  readonly reason: string;
  /** The public reason of every record. Undefined: restored values keep the reason that they had. */
  readonly publicReason: string | undefined;
}

/**
 * @param market its slug, and the quantity that it quotes
 * @param versions every version of every observation of the market
 * @param isSelected whether a version must be undone
 * @param said the reasons: see {@link Reasons}
 */
export function earlierValues(
  market: UndoneMarket,
  versions: readonly PublicObservation[],
  isSelected: (version: PublicObservation) => boolean,
  said: Reasons,
): EarlierValues {
  const byId = new Map(versions.map((version) => [version.id, version]));
  const beforeOf = ({ supersedes }: PublicObservation) => (supersedes === null ? null : (byId.get(supersedes) ?? null));
  const values: EarlierValue[] = [];
  const replacedSince: PublicObservation[] = [];
  for (const newest of versions.filter(({ supersededBy }) => supersededBy === null)) {
    let version: PublicObservation | null = newest;
    // The service itself supersedes an announced value by an equal one when its moment has come.
    const announced = beforeOf(newest);
    if (announced?.announced && !newest.announced && isSameValue(announced, newest)) version = announced;
    if (!isSelected(version)) {
      if (hasSelected(version, beforeOf, isSelected)) replacedSince.push(newest);
      continue;
    }
    while (version !== null && isSelected(version)) version = beforeOf(version);
    if (version === null && newest.retraction === 'mistake') continue;
    values.push({ wrong: newest, before: version, record: recordOf(market, newest, version, said) });
  }
  return { values, replacedSince };
}

function hasSelected(
  newest: PublicObservation,
  beforeOf: (version: PublicObservation) => PublicObservation | null,
  isSelected: (version: PublicObservation) => boolean,
): boolean {
  for (let version: PublicObservation | null = newest; version !== null; version = beforeOf(version)) {
    if (isSelected(version)) return true;
  }
  return false;
}

function isSameValue(one: PublicObservation, other: PublicObservation): boolean {
  return decimalOf(one) === decimalOf(other) && one.retraction === other.retraction;
}

function recordOf(
  { slug, quantity }: UndoneMarket,
  { metric, observedAt, sourceUrl, announced }: PublicObservation,
  before: PublicObservation | null,
  { reason, ...said }: Reasons,
): IngestRecordInput {
  const identity = { market: slug, metric, observedAt, sourceUrl };
  const publicReason = said.publicReason ?? before?.publicReason;
  const why = publicReason === undefined ? {} : { publicReason };
  if (before === null) return { type: 'retraction', ...identity, kind: 'mistake', reason, ...why };
  if (before.retraction !== null) return { type: 'retraction', ...identity, kind: before.retraction, reason, ...why };
  const { sourceLabel, releasedAt, confidence, status, sourceValue, unknownReason, rounded } = before;
  const observation = {
    ...({ type: 'observation', ...identity, sourceLabel, releasedAt, confidence, status } as const),
    ...{ sourceValue, unknownReason, rounded },
    // The value passed every check when it was first stored.
    ...{ zeroAsserted: true, dateConfirmed: true, outlierConfirmed: true, reinstated: true },
    ...(announced && { announced }),
    ...why,
  };
  return before.kind === 'money'
    ? { ...observation, amountMinor: before.amountMinor, currency: before.currency, ...quotedIn(before, quantity) }
    : { ...observation, value: before.value, unit: before.unit };
}

/**
 * The quantity for which the source quotes, which is not stored: it follows from the digits and the amount. Empty: the service
 * tries one and the market's quantity by itself.
 */
function quotedIn(row: PublicMoney, quantity: number): { readonly quotedQuantity?: number } {
  const { amountMinor, minorDigits, sourceValue } = row;
  if (amountMinor === null || amountMinor === 0 || sourceValue === null) return {};
  const isRight = (each: number) => isNearestAmount(amountMinor, sourceValue, minorDigits, quantity, each);
  if ([quantity, 1].some(isRight)) return {};
  const quotedQuantity = Math.round((Number(sourceValue) * quantity * 10 ** minorDigits) / amountMinor);
  return Number.isSafeInteger(quotedQuantity) && quotedQuantity > 0 && isRight(quotedQuantity)
    ? { quotedQuantity }
    : {};
}

type PublicMoney = Extract<PublicObservation, { kind: 'money' }>;
