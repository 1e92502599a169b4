/** The files of a market, and the requests that give the same data. */
import type { HistoryIndex } from '../../../../contract/bodies/history-files.ts';
import { FILE_ROWS_MAX } from '../../../../contract/bodies/history-rows.ts';
import {
  COMPAT_URL,
  historyFileUrl,
  historyIndexUrl,
  historyUrl,
  marketUrl,
} from '../../../../contract/files/routes.ts';
import { addressOf } from '../base-url.ts';
import { copyRow } from './copy-row.ts';
import { dom, type Slot } from './elements.ts';

export interface DownloadsContent {
  readonly slug: string;
  readonly count: number;
  /** Null: there are no files of years. */
  readonly index: HistoryIndex | null;
  readonly hasHistoryFiles: boolean;
  readonly hasLog: boolean;
  readonly hasPrice: boolean;
  /** The part of the files for other programs. Null: the service has none. */
  readonly part: string | null;
}

export function downloadsSection(content: DownloadsContent): HTMLElement {
  const said = dom`<p class="small" role="status"></p>`;
  const requests = requestsOf(content).map(([words, command]) => copyRow(words, command, said));
  return dom`<section class="market-section" aria-labelledby="downloads-heading">
<h2 id="downloads-heading">Downloads</h2><ul class="files">${files(content)}</ul>
<h2>Read it by request</h2><p class="soft">Every answer is a static file. No key is needed.</p>
<dl class="requests stack">${requests}</dl>${said}</section>`;
}

const WHY_NO_FILE = 'Files are made once there are two observations.';

function hasWhole({ count, hasHistoryFiles }: DownloadsContent): boolean {
  return hasHistoryFiles && count > 1 && count <= FILE_ROWS_MAX;
}

function files(content: DownloadsContent): readonly Slot[] {
  const { slug, count, index, part, hasPrice } = content;
  const link = (href: string, text: string) => dom`<a href="${addressOf(href)}" download>${text}</a>`;
  const forms = (csv: string, ndjson: string) => [link(csv, 'CSV'), ' · ', link(ndjson, 'NDJSON')];
  const whole = hasWhole(content)
    ? ['The whole history: ', forms(historyFileUrl(slug, 'csv', null), historyFileUrl(slug, 'ndjson', null))]
    : !content.hasHistoryFiles
      ? 'This service publishes no history files.'
      : count > FILE_ROWS_MAX
        ? 'The whole history is too long for one file: download it by year.'
        : WHY_NO_FILE;
  const years = (index?.years ?? [])
    .toReversed()
    .map(({ year, csv, ndjson }) => [dom`<span class="file-year">${year}: ${forms(csv, ndjson)}</span>`, ' ']);
  const programs = [
    link(`${COMPAT_URL}/beancount/${part}.beancount`, 'beancount'),
    [' · ', link(`${COMPAT_URL}/hledger/${part}.journal`, 'hledger')],
    [' · ', link(`${COMPAT_URL}/quotes/${part}.json`, 'quotes as JSON')],
  ];
  return [
    dom`<li>${whole}</li>`,
    dom`<li>Each row names its source. The licences of the sources are in ${link(`${marketUrl(slug)}.json`, 'this market as JSON')}.</li>`,
    years.length === 0 ? null : dom`<li>By year of observation (UTC): ${years}</li>`,
    part === null || !hasPrice
      ? null
      : dom`<li>Daily prices for other programs, with other markets in the same file: ${programs}</li>`,
  ];
}

function requestsOf(content: DownloadsContent): readonly (readonly [string, string])[] {
  const { slug, index, hasLog } = content;
  const get = (path: string): string => `curl -s '${addressOf(path)}'`;
  const csv = historyFileUrl(slug, 'csv', null);
  return [
    ['This market', get(`${marketUrl(slug)}.json`)],
    ['The newest page of its history', get(`${historyUrl(slug)}.json`)],
    ...(index === null ? [] : ([['Its pages and files', get(`${historyIndexUrl(slug)}.json`)]] as const)),
    ...(hasWhole(content) ? ([['The history as CSV', `curl -sO '${addressOf(csv)}'`]] as const) : []),
    ...(hasLog ? ([['The signed checkpoint of the log', get('/api/v1/log/checkpoint')]] as const) : []),
  ];
}
