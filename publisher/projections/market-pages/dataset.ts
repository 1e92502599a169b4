/** A market as schema.org's Dataset, for search engines. Pure. */

import { FRONT_TITLE } from '../../../contract/bodies/front-page.ts';
import { FILE_ROWS_MAX } from '../../../contract/bodies/history-rows.ts';
import { operatorIn } from '../../../contract/files/operator-html.ts';
import { historyFileUrl, historyUrl, marketUrl, PAGES_OF_MARKETS_URL } from '../../../contract/files/routes.ts';
import { metricTitle } from '../../../contract/values/metric-words.ts';
import { unitText } from '../../../contract/values/shown-value.ts';
import type { FileInput } from '../../core/market-files/files-of-markets.ts';
import { download, licenceOf, linkedData, organization, publisherOf } from '../../kernel/text/linked-data.ts';

export function datasetOf({ market, readBaseUrl, projections, frame }: FileInput): string {
  const { slug, name, unit, metrics, sources, history, updatedAt } = market;
  const at = (path: string) => `${readBaseUrl ?? '..'}${path}`;
  const operator = operatorIn(frame ?? '');
  const titles = Object.keys(metrics).flatMap((metric) => (metrics[metric] === null ? [] : [metricTitle(metric)]));
  const credits = sources.flatMap(({ attribution }) => attribution ?? []);
  const files = isHistoryOneFile({ market, projections }) ? (['csv', 'ndjson'] as const) : [];
  return linkedData({
    '@type': 'Dataset',
    ...(sources.length > 0 && {
      creator: sources.map(({ label, publisher, url }) => organization(publisher ?? label, url)),
    }),
    ...(credits.length > 0 && { creditText: credits.join(' ') }),
    ...(updatedAt !== null && { dateModified: updatedAt }),
    description:
      `${name}, ${unitText(unit)}: ${history.count.toLocaleString('en')} ${history.count === 1 ? 'observation' : 'observations'}, ` +
      'each with its source and its times, as static files that are free to read.',
    distribution: [
      download('application/json', at(`${marketUrl(slug)}.json`)),
      download('application/json', at(`${historyUrl(slug)}.json`)),
      ...files.map((format) => download(FORMATS[format], at(historyFileUrl(slug, format, null)))),
    ],
    identifier: slug,
    includedInDataCatalog: {
      '@type': 'DataCatalog',
      name: FRONT_TITLE,
      url: at(readBaseUrl === null ? '/index.html' : '/'),
    },
    ...licenceOf(licenceOfSources(sources) ?? operator.licence),
    name,
    ...publisherOf(operator),
    ...(history.firstObservedAt !== null && {
      temporalCoverage: `${history.firstObservedAt}/${history.lastObservedAt}`,
    }),
    ...(readBaseUrl !== null && { url: at(`${PAGES_OF_MARKETS_URL}/${slug}.html`) }),
    ...(titles.length > 0 && { variableMeasured: titles }),
  });
}

const FORMATS = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Whether one file holds the whole history. */
export function isHistoryOneFile({
  market: { history },
  projections,
}: Pick<FileInput, 'market' | 'projections'>): boolean {
  return projections.has('history-files') && history.count > 1 && history.count <= FILE_ROWS_MAX;
}

/** The common licence. Undefined: the sources have several licences, or one source has none. */
function licenceOfSources(sources: FileInput['market']['sources']): string | undefined {
  const [first, ...others] = new Set(sources.map(({ licence }) => licence));
  return others.length === 0 ? (first ?? undefined) : undefined;
}
