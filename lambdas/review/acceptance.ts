/** The effect of an accepted claim on its market. Pure; the claim's decision and this effect are one transaction. */
import type { RetractionRecord } from '../../contract/ingest/ingest-records.ts';
import type { ClaimAssertion } from '../../contract/operations/accounts/claims.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { Change, Item } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, observationId } from '../../storage/records/markets.ts';
import type { ClaimValue } from '../../storage/records/review.ts';
import { refusal } from '../http/refused-request.ts';
import { decideMarket } from '../markets/decide.ts';
import { changedMarket } from '../markets/market-changes.ts';
import type { MarketState } from '../markets/read-markets.ts';
import { removedDetail } from '../markets/removal.ts';
import { type Row, rowOf } from '../markets/rows.ts';
import { standingOf, unchangedMarket } from '../markets/rules/standing.ts';
import { type Correction, correctionOf } from './claim-record.ts';

const SALT_BYTES = 32;

type ObservationAssertion = Correction | Extract<ClaimAssertion, { type: 'retraction' }>;

export interface Acceptance {
  /** Changes under the condition that the market still has the revision that was read. */
  readonly changes: readonly Change[];
  /** The superseding observation; null if the claim is not about an observation. */
  readonly observationId: string | null;
}

/** The rows whose state must be read before a claim about the market can be accepted. */
export function rowsToRead(assertion: ClaimAssertion): readonly Row[] {
  return isOfObservation(assertion) ? [rowOf(0, retractionOf(assertion))] : [];
}

/**
 * @param claim with the public reason of its decision; the claim's own reason is not published
 * @param market as read for {@link rowsToRead}
 * @param acceptedAt RFC 3339; becomes `recordedAt` of new observations
 * @param randomBytes for the salt of a representation
 */
export function acceptedChanges(
  { id, assertion, publicReason }: Pick<ClaimValue, 'id' | 'assertion'> & { readonly publicReason: string | undefined },
  state: MarketState,
  acceptedAt: string,
  randomBytes: Runtime['randomBytes'],
): Acceptance {
  const { slug, market } = state;
  if (market === null) throw refusal('conflict', `The market ${slug} is not there any more.`);
  const { removal } = market.value;
  if (removal !== undefined) {
    throw refusal('conflict', `The claim cannot take effect, because ${removedDetail(slug, removal)}. Reject it.`);
  }
  if (isOfObservation(assertion)) {
    return supersededObservation(assertion, { ...state, market }, acceptedAt, publicReason);
  }
  const standing = standingOf(market.value);
  if (assertion.type === 'representation') {
    // Nothing can be erased from the log, so it holds only the digest of name and salt. Without the salt, nobody can find the
    // name by trying.
    const salt = Buffer.from(randomBytes(SALT_BYTES)).toString('hex');
    const representedBy = { name: assertion.name, claim: id, salt };
    return {
      changes: changedMarket(slug, market, { standing: { ...standing, representedBy } }, acceptedAt),
      observationId: null,
    };
  }
  const { metric } = assertion;
  if (!Object.hasOwn(market.value.latest, metric)) {
    throw refusal('conflict', `The market ${slug} has no metric ${metric} that could be disputed.`);
  }
  const disputed = { ...standing, disputes: { ...standing.disputes, [metric]: id } };
  return { changes: changedMarket(slug, market, { standing: disputed }, acceptedAt), observationId: null };
}

function retractionOf({ market, metric, observedAt, sourceUrl, ...more }: ObservationAssertion): RetractionRecord {
  const kind = more.type === 'retraction' && more.kind !== undefined ? { kind: more.kind } : {};
  return { type: 'retraction', market, metric, observedAt, sourceUrl, ...kind, reason: 'an accepted claim' };
}

/**
 * Supersedes the newest version, even if it is newer than the claim. Changes nothing if the newest version already has the
 * claimed content.
 */
function supersededObservation(
  assertion: ObservationAssertion,
  state: MarketState & { readonly market: Item<MarketRecordValue> },
  recordedAt: string,
  publicReason: string | undefined,
): Acceptance {
  const { slug, market, known } = state;
  const [before] = known.values();
  if (before === undefined) throw refusal('conflict', 'The observation is not there any more.');
  const { newest, ordinal } = before;
  const record =
    assertion.type === 'correction' ? correctionOf(assertion, newest.sourceLabel) : retractionOf(assertion);
  const reasoned = publicReason === undefined ? record : { ...record, publicReason };
  const { changes, outcomes } = decideMarket({ ...state, rows: [rowOf(0, reasoned)], mode: 'correct', recordedAt });
  const outcome = outcomes.get(0);
  if (outcome?.kind === 'refused') {
    const { error } = outcome;
    throw refusal('conflict', `The market does not take this: ${error.detail}.`, { errors: [error] });
  }
  return outcome?.kind === 'accepted'
    ? { changes, observationId: observationId({ ...assertion, ordinal: ordinal + 1 }) }
    : { changes: [unchangedMarket(slug, market), ...changes], observationId: newest.id };
}

function isOfObservation(assertion: ClaimAssertion): assertion is ObservationAssertion {
  return assertion.type === 'correction' || assertion.type === 'retraction';
}
