/**
 * Renders records to bytes. Pure: no clock, no request, no order of arrival. The same records give the same bytes on every
 * machine. Objects are built with their members in canonical order, so that one native call serialises them.
 */

import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { type Projection, projectionsText } from '../../../contract/files/projections.ts';
import { historyUrl } from '../../../contract/files/routes.ts';
import { sourceExpectedNextAt } from '../../../contract/freshness/expected-next.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Snapshot, Source, SourceVerification } from '../../../contract/values/market.ts';
import type { Metric } from '../../../contract/values/metric.ts';
import { moneyTexts } from '../../../contract/values/money/money-texts.ts';
import type { MarketRecordValue, ObservationValue } from '../../../storage/records/markets.ts';
import { valuesIn } from '../../../storage/records/newest-values.ts';
import type { Site } from '../../site.ts';

/** Increase it when the same records give other bytes. Then every market is rendered again. */
export const RENDERER_VERSION = 21;

/** Everything except the records on which the published files depend. HEAD records it. */
export function rendererOf({ pageSizes, projections = new Set(), readBaseUrl, site }: RendererSettings): string {
  const sizes = `${RENDERER_VERSION}/${pageSizes.markets}/${pageSizes.observations}`;
  const name = projections.size === 0 ? sizes : `${sizes}/${projectionsText(projections)}`;
  const frame = projections.has('market-pages') ? site?.files[ANY_MARKET_PAGE.slice(1)] : undefined;
  const framed = frame === undefined ? name : `${name}/${frame.slice(0, 16)}`;
  return readBaseUrl === undefined ? framed : `${framed}/${readBaseUrl}`;
}

interface RendererSettings {
  readonly pageSizes: Readonly<Record<'markets' | 'observations', number>>;
  readonly projections?: ReadonlySet<Projection>;
  readonly readBaseUrl?: string;
  readonly site?: Pick<Site, 'files'>;
}

/** The body of `GET /api/v1/markets/:slug`, which is also the market's item in the list. */
export function marketBody(slug: string, revision: number, record: MarketRecordValue): string {
  const { quantity } = record.unit;
  const metrics: { [name: string]: Json } = {};
  const bySource: { [name: string]: Json } = {};
  const announced = Object.entries(record.announced ?? {}).map(
    ([name, { metric }]) => [name, publicMetric(metric, quantity)] as const,
  );
  for (const name of [...new Set(['price', ...Object.keys(record.latest)])].sort()) {
    const shown = record.latest[name];
    metrics[name] = shown === undefined ? null : publicMetric(shown.metric, quantity);
    if (shown?.others === undefined) continue;
    bySource[name] = valuesIn(shown).map(({ metric }) => publicMetric(metric, quantity));
  }
  const { representedBy = null, verifications = {} } = record.standing ?? {};
  const disputedMetrics = disputedMetricsOf(record.standing);
  const { attributes, outliers, outliersReason } = record;
  return canonicalJson({
    ...(announced.length > 0 && { announced: Object.fromEntries(announced) }),
    ...(attributes !== undefined && { attributes }),
    bySource,
    disputed: disputedMetrics.length > 0,
    disputedMetrics,
    history: {
      count: record.observations,
      firstObservedAt: record.firstObservedAt,
      href: historyUrl(slug),
      lastObservedAt: record.lastObservedAt,
    },
    kind: record.kind,
    metrics,
    name: record.name,
    nativeCurrency: record.nativeCurrency,
    ...(outliers !== undefined && { outliers }),
    ...(outliersReason !== undefined && { outliersReason }),
    representedBy: representedBy?.name ?? null,
    representedBySalt: representedBy?.salt ?? null,
    revision,
    slug,
    sources: record.sources.map((source) => publicSource(source, record, verifications[source.url] ?? null)),
    status: record.status,
    unit: record.unit,
    updatedAt: record.updatedAt,
  });
}

/** The names of the disputed metrics, sorted. */
export function disputedMetricsOf(standing: MarketRecordValue['standing']): string[] {
  const { comparisons = {}, disputes = {} } = standing ?? {};
  const mismatches = Object.keys(comparisons).filter((metric) => comparisons[metric]?.outcome === 'mismatch');
  return [...new Set([...Object.keys(disputes), ...mismatches])].sort();
}

/** The standing that gives these public facts. The ids of claims stay in the ledger, and rendering does not use them. */
export function publicStanding(
  representative: { readonly name: string; readonly salt: string | null } | null,
  disputedMetrics: readonly string[],
  sources: readonly { readonly url: string; readonly verification: SourceVerification | null }[],
): NonNullable<MarketRecordValue['standing']> {
  const { name, salt } = representative ?? {};
  return {
    representedBy: name === undefined ? null : { name, claim: '', ...(salt != null && { salt }) },
    disputes: Object.fromEntries(disputedMetrics.map((metric) => [metric, ''])),
    comparisons: {},
    verifications: Object.fromEntries(
      sources.flatMap(({ url, verification }) => (verification === null ? [] : [[url, verification]])),
    ),
  };
}

function publicSource(
  source: Source,
  { latest, status }: MarketRecordValue,
  verification: SourceVerification | null,
): Json {
  const { attribution, cadence = null, label, licence, publisher, url } = source;
  const shown = Object.values(latest).flatMap((values) => valuesIn(values).map(({ metric }) => metric));
  const expectedNextAt = sourceExpectedNextAt(source, status, shown);
  return { attribution, cadence, expectedNextAt, label, licence, publisher, url, verification };
}

/** The stored members are in canonical order; the rendered ones are inserted between them. */
function publicMetric(metric: Metric, quantity: number): Json {
  if (metric.kind === 'scalar') return metric;
  const { amountMinor, confidence, currency, kind, ...rest } = metric;
  const { decimal, decimalPerUnit, minorDigits } = moneyTexts(amountMinor, currency, quantity);
  return { amountMinor, confidence, currency, decimal, decimalPerUnit, kind, minorDigits, ...rest };
}

export function publicObservation(observation: ObservationValue, quantity: number): Json {
  const shown = effectiveObservation(observation, quantity);
  const { announced, publicReason } = observation;
  if (announced === undefined && publicReason === undefined) return shown;
  // Few observations have such a member, so sorting is cheap enough.
  return {
    ...(shown as { readonly [name: string]: Json }),
    ...(announced && { announced }),
    ...(publicReason !== undefined && { publicReason }),
  };
}

/** Written member by member, because histories are the bulk of all bytes, and a spread takes several times as long. */
function effectiveObservation(observation: ObservationValue, quantity: number): Json {
  if (observation.kind === 'scalar') {
    if (observation.firstRevision === undefined) return observation;
    const { firstRevision, ...shown } = observation;
    return shown;
  }
  const { decimal, decimalPerUnit, minorDigits } = moneyTexts(observation.amountMinor, observation.currency, quantity);
  return {
    amountMinor: observation.amountMinor,
    confidence: observation.confidence,
    currency: observation.currency,
    decimal,
    decimalPerUnit,
    id: observation.id,
    kind: observation.kind,
    metric: observation.metric,
    minorDigits,
    observedAt: observation.observedAt,
    recordedAt: observation.recordedAt,
    releasedAt: observation.releasedAt,
    retraction: observation.retraction,
    rounded: observation.rounded,
    sourceLabel: observation.sourceLabel,
    sourceUrl: observation.sourceUrl,
    sourceValue: observation.sourceValue,
    status: observation.status,
    supersededAt: observation.supersededAt,
    supersededBy: observation.supersededBy,
    supersedes: observation.supersedes,
    unknownReason: observation.unknownReason,
  };
}

/**
 * A page of observations, newest first. `observations` are oldest first, as in the ledger.
 *
 * @param quantity the quantity that one price of the market buys
 * @param folder the folder of the next page, relative to the file of this page
 */
export function historyPageBody(
  observations: readonly ObservationValue[],
  nextCursor: string | null,
  quantity: number,
  folder: string,
): string {
  const data = observations.map((observation) => publicObservation(observation, quantity)).reverse();
  // One native call for the whole page.
  return canonicalJson({ data, page: linksTo(nextCursor, folder) });
}

/** A page of a collection from items that are already canonical JSON. */
export function collectionBody(items: readonly string[], nextCursor: string | null, folder: string): string {
  return `{"data":[${items.join(',')}],"page":${canonicalJson(linksTo(nextCursor, folder))}}`;
}

function linksTo(nextCursor: string | null, folder: string): { next: string | null; nextCursor: string | null } {
  return { next: nextCursor === null ? null : `${folder}${nextCursor}.json`, nextCursor };
}

/** The items of a page of markets, each with its exact bytes. */
export function collectionItems(body: string): readonly { readonly slug: string; readonly body: string }[] {
  const { data } = JSON.parse(body) as { data: (Json & { slug: string })[] };
  return data.map((item) => ({ slug: item.slug, body: canonicalJson(item) }));
}

/** The body of `GET /api/v1/snapshot`. */
export function snapshotBody(snapshot: Snapshot): string {
  return canonicalJson(snapshot as Json);
}
