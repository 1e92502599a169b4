import type { SourceVerificationRecord } from '../../contract/operations/source-verifications.ts';
import type { ProblemError } from '../../contract/problems/problems.ts';
import { canonicalInstant, type Observation } from '../../contract/values/metric.ts';
import { created } from '../../storage/ports/changes.ts';
import type { Change, Item, LedgerReader } from '../../storage/ports/ledger.ts';
import { type MarketRecordValue, observationKey, orderKey, ordinalOf } from '../../storage/records/markets.ts';
import {
  VERIFICATIONS,
  type VerificationValue,
  verificationKey,
  verificationKeys,
  verificationsOfMarket,
} from '../../storage/records/review.ts';
import { refusal } from '../http/refused-request.ts';
import { changedMarket } from '../markets/market-changes.ts';
import { type MarketState, readMarkets } from '../markets/read-markets.ts';
import { removedDetail } from '../markets/removal.ts';
import { rowOf } from '../markets/rows.ts';
import { isSameStanding, standingOf, unchangedMarket, type Verified, verified } from '../markets/rules/standing.ts';
import { type OperationRequest, type ReadHandler, writeHandler } from '../pipeline/handler.ts';
import { paginate } from '../pipeline/list.ts';

export const listSourceVerifications: ReadHandler<'listSourceVerifications'> = (request, tools) => {
  const { market } = request.query;
  return paginate(request, tools, {
    range: market === undefined ? VERIFICATIONS : verificationsOfMarket(market),
    valuesOf: (items) => items.map(({ value }) => toResource(value)),
  });
};

export const getSourceVerification: ReadHandler<'getSourceVerification'> = async ({ params: { id } }, { reader }) => {
  const item = await reader.get(verificationKey(id));
  if (item === null) throw refusal('not-found', 'No such source verification.');
  return { body: toResource(item.value) };
};

export const createSourceVerification = writeHandler<'createSourceVerification'>()({
  async read({ body: { market, subject } }, reader) {
    const rows =
      subject.type === 'observation' ? [rowOf(0, { ...subject, type: 'retraction', market, reason: '' })] : [];
    const [state] = (await readMarkets(reader, [{ slug: market, rows }])) as [MarketState];
    return { ...state, corrections: subject.type === 'source' ? await readCorrections(reader, state) : [] };
  },
  markets: ({ body: { market } }) => [market],
  decide(request, state) {
    const { market, subject, outcome } = request.body;
    const about = aboutOf(request.body, state);
    const errors = [...timeErrors(request), ...('error' in about ? [about.error] : [])];
    if ('error' in about || errors.length > 0) {
      throw refusal('validation-failed', 'The subject does not exist, or the time is not plausible: see errors.', {
        errors,
      });
    }
    const id = request.newId('verification');
    const verifiedAt = canonicalInstant(request.body.verifiedAt);
    const { source, metrics } = about;
    const value: VerificationValue = {
      ...request.body,
      id,
      verifiedAt,
      createdAt: request.now,
      subjectOwner: request.principal.subject,
    };
    const shown = { outcome, verifiedAt, subject: subject.type };
    return {
      target: `source-verification/${id}`,
      changes: [
        ...verificationKeys(value).map((key) => created(key, value)),
        ...marketChanges(market, about.market, { id, source, metrics, shown }, request.now),
      ],
      response: { body: toResource(value), location: `/api/v1/source-verifications/${id}` },
    };
  },
});

/** Clocks differ, so `verifiedAt` may be slightly ahead of our clock. */
const FUTURE_TOLERANCE_MS = 5 * 60 * 1000;

/** No verification can be earlier than this. */
const EARLIEST = '2000-01-01T00:00:00Z';

function timeErrors({ body, nowMs }: OperationRequest<'createSourceVerification'>): readonly ProblemError[] {
  const { verifiedAt } = body;
  const verifiedAtMs = Date.parse(verifiedAt);
  if (verifiedAtMs > nowMs + FUTURE_TOLERANCE_MS) {
    const detail = `${verifiedAt} is in the future of ${new Date(nowMs).toISOString()}: send the time at which the source was retrieved`;
    return [{ pointer: '/verifiedAt', code: 'date.future', detail }];
  }
  if (verifiedAtMs >= Date.parse(EARLIEST)) return [];
  return [{ pointer: '/verifiedAt', code: 'date.implausible', detail: `${verifiedAt} is before ${EARLIEST}` }];
}

/** The market's latest observations that supersede another one. */
async function readCorrections(reader: LedgerReader, { slug, market }: MarketState): Promise<readonly Observation[]> {
  const orders = Object.values(market?.value.latest ?? {}).map(({ order }) => order);
  const keys = orders.filter((order) => ordinalOf(order) > 0).map((order) => observationKey(slug, order));
  const items = keys.length === 0 ? [] : await reader.getMany(keys);
  return items.flatMap((item) => (item === null ? [] : [item.value]));
}

type About = Pick<Verified, 'source' | 'metrics'> & { readonly market: Item<MarketRecordValue> };

/** The subject's source in the market, and the metrics that now show the compared observation. */
function aboutOf(
  { subject, verifiedAt }: Pick<VerificationValue, 'subject' | 'verifiedAt'>,
  { slug, market, known, corrections }: MarketState & { readonly corrections: readonly Observation[] },
): About | { readonly error: ProblemError } {
  if (market === null) return missing('/market', 'market.unknown', `no market ${slug}: see /api/v1/markets`);
  const { sources, latest, removal } = market.value;
  if (removal !== undefined) return missing('/market', 'market.removed', removedDetail(slug, removal));
  if (subject.type === 'source') {
    const source = sources.find(({ url }) => url === subject.url);
    if (source === undefined) {
      return missing('/subject/url', 'source.unknown', 'not one of the sources that the market lists');
    }
    const later = corrections.filter((correction) => !wasThere(correction, verifiedAt)).map(({ metric }) => metric);
    const shown = Object.keys(latest).filter((name) => latest[name]?.metric.sourceLabel === source.label);
    return { market, source, metrics: shown.filter((name) => !later.includes(name)) };
  }
  const [observation] = known.values();
  if (observation === undefined) {
    const detail = 'no observation of this market, metric, observedAt and sourceUrl: see the history of the market';
    return missing('/subject', 'observation.unknown', detail);
  }
  const { newest, ordinal } = observation;
  const source = sources.find(({ label }) => label === newest.sourceLabel);
  if (source === undefined) {
    const detail = `the market lists no source with the observation's label ${newest.sourceLabel}: add it to the market`;
    return missing('/subject', 'source.unknown', detail);
  }
  const order = orderKey({ ...subject, market: slug, ordinal });
  const isCompared = latest[subject.metric]?.order === order && wasThere(newest, verifiedAt);
  return { market, source, metrics: isCompared ? [subject.metric] : [] };
}

/**
 * Whether the observation existed at the time of verification. A verification before a correction was recorded does not apply
 * to the correction.
 */
function wasThere({ supersedes, recordedAt }: Observation, verifiedAt: string): boolean {
  return supersedes === null || Date.parse(verifiedAt) >= Date.parse(recordedAt);
}

function missing(pointer: string, code: string, detail: string): { readonly error: ProblemError } {
  return { error: { pointer, code, detail } };
}

/** The changes of a verification to the market. If it has no public effect, the market is only checked and not published. */
function marketChanges(
  slug: string,
  market: Item<MarketRecordValue>,
  verification: Verified,
  now: string,
): readonly Change[] {
  const before = standingOf(market.value);
  const after = verified(before, verification);
  if (isSameStanding(before, after)) return [unchangedMarket(slug, market)];
  return changedMarket(slug, market, { standing: after }, now);
}

/** The resource without the actor, who is named only in the audit. */
function toResource({ subjectOwner, ...shown }: VerificationValue): SourceVerificationRecord {
  return shown;
}
