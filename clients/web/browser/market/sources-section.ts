/** The sources of a market, side by side: their newest values, their licences, and the result of each one's last check. */
import type { Market } from '../../../../contract/values/market.ts';
import type { PublicMetric } from '../../../../contract/values/metric.ts';
import { compareMetrics, metricTitle } from '../../../../contract/values/metric-words.ts';
import { agedTime, badge, dom, facts, outsideLink, tableBox, timeElement } from './elements.ts';
import type { RowWords } from './row-words.ts';
import { lateSecondsOf } from './words.ts';

const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  confirmed: 'confirmed: the source says the same',
  mismatch: 'mismatch: the source says something else',
  moved: 'moved: the data is at another URL',
  unreachable: 'unreachable: the source did not answer',
  gone: 'gone: the data is no longer there',
  inconclusive: 'inconclusive: no result',
};

export interface SourcesContent {
  readonly market: Market;
  readonly metrics: Readonly<Record<string, PublicMetric | null>>;
  readonly bySource: Readonly<Record<string, readonly PublicMetric[]>>;
  readonly words: RowWords;
}

export function sourcesSection(content: SourcesContent): HTMLElement {
  const { market } = content;
  const cards = market.sources.map((source) => sourceCard(content, source));
  return dom`<section class="market-section" aria-labelledby="sources-heading">
<h2 id="sources-heading">Sources side by side</h2>
<p class="soft">The newest value of each source. Values are never blended.</p>
${comparison(content)}<div class="cards">${cards}</div><h2>Claims and checks</h2>${claims(market)}</section>`;
}

/** Each metric of several sources. */
function comparison({ metrics, bySource, words }: SourcesContent): HTMLElement {
  const rows = Object.keys(metrics)
    .sort((one, other) => Number(other === 'price') - Number(one === 'price') || compareMetrics(one, other))
    .flatMap((name) => {
      const shown = metrics[name];
      const values = bySource[name] ?? (shown == null ? [] : [shown]);
      return values.map((value) => ({ name, value }));
    });
  if (rows.length === 0) return dom`<p>No value is recorded.</p>`;
  const heads = ['Metric', 'Source', 'Value', 'Observed', 'Confidence'];
  const body = dom`<tbody>${rows.map(({ name, value }) => comparisonRow(name, value, words))}</tbody>`;
  return tableBox('Newest values by source', heads, [2], body);
}

function comparisonRow(name: string, value: PublicMetric, words: RowWords): HTMLElement {
  const look = value.unknownReason === null ? 'number value' : 'unknown';
  return dom`<tr><td>${metricTitle(name)}</td><td class="source">${outsideLink(value.sourceLabel, value.sourceUrl)}</td>
<td class="${look}">${words.whole(value)}</td><td>${timeElement(value.observedAt)}</td><td>${value.confidence}</td></tr>`;
}

function sourceCard({ market }: SourcesContent, source: Market['sources'][number]): HTMLElement {
  const { label, url, publisher, licence, attribution, cadence, expectedNextAt, verification } = source;
  const isLate = lateSecondsOf(source, Date.now()) > 0;
  const next = expectedNextAt === null || market.status === 'retired' ? null : expectedNextAt;
  const outcome = verification && (OUTCOME_WORDS[verification.outcome] ?? verification.outcome);
  const subject = verification?.subject === 'source' ? 'the whole source' : 'one observation';
  return dom`<article class="panel"><h3>${outsideLink(label, url)}</h3>${facts([
    ['Publisher', publisher ?? 'not stated'],
    ['Licence', licence ?? 'not stated'],
    attribution === null ? null : ['Attribution', attribution],
    ['Publishes', cadence === null ? 'not stated' : cadenceText(cadence)],
    next === null ? null : ['Next value', [isLate ? badge('late', 'notice') : null, ' expected ', agedTime(next)]],
    [
      'Last check',
      verification === null
        ? 'never checked against the source'
        : [`${outcome}, ${subject}, `, agedTime(verification.verifiedAt)],
    ],
  ])}</article>`;
}

function cadenceText(cadence: NonNullable<Market['sources'][number]['cadence']>): string {
  if (cadence.period !== 'minutes') return `every ${cadence.period}`;
  return cadence.minutes === 1 ? 'every minute' : `every ${cadence.minutes} minutes`;
}

/** The claims' effects in public bodies. The claims themselves are not public. */
function claims({ disputed, disputedMetrics, representedBy }: Market): HTMLElement {
  const names = disputedMetrics.join(', ');
  const texts = [
    disputed
      ? `Disputed: ${names}. A claim was accepted, or a check of the source found another value.`
      : 'No metric is disputed.',
    representedBy === null
      ? 'No organisation represents this market.'
      : `${representedBy} represents this market, by an accepted claim.`,
    'Corrections never overwrite: the replaced versions stay readable.',
  ];
  return dom`<ul>${texts.map((text) => dom`<li>${text}</li>`)}</ul>`;
}
