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
import { element } from './elements.ts';

export interface DownloadsContent {
  readonly slug: string;
  readonly count: number;
  /** Null: there are no files of years. */
  readonly index: HistoryIndex | null;
  readonly hasHistoryFiles: boolean;
  readonly hasLog: boolean;
  /** Of the files for other programs. Null: the deployment makes none. */
  readonly part: string | null;
}

export function downloadsSection(content: DownloadsContent): HTMLElement {
  const said = element('p', { class: 'small', role: 'status' });
  const requests = requestsOf(content);
  return element(
    'section',
    { class: 'market-section', 'aria-labelledby': 'downloads-heading' },
    element('h2', { id: 'downloads-heading' }, 'Downloads'),
    files(content),
    element('h2', {}, 'Read it by request'),
    element('p', { class: 'soft' }, 'Every answer is a static file. No key is needed.'),
    element('dl', { class: 'requests' }, ...requests.flatMap(([words, command]) => copyRow(words, command, said))),
    said,
  );
}

const WHY_NO_FILE = 'Files are made once there are two observations.';

function hasWhole({ count, hasHistoryFiles }: DownloadsContent): boolean {
  return hasHistoryFiles && count > 1;
}

function files(content: DownloadsContent): HTMLElement {
  const { slug, count, index, part } = content;
  const list = element('ul', { class: 'files' });
  const link = (href: string, text: string): HTMLElement =>
    element('a', { href: addressOf(href), download: true }, text);
  const forms = (csv: string, ndjson: string) => [link(csv, 'CSV'), ' · ', link(ndjson, 'NDJSON')];
  const whole = hasWhole(content)
    ? count > FILE_ROWS_MAX
      ? ['The whole history is too long for one file: download it by year.']
      : ['The whole history: ', ...forms(historyFileUrl(slug, 'csv', null), historyFileUrl(slug, 'ndjson', null))]
    : [content.hasHistoryFiles ? WHY_NO_FILE : 'This service publishes no history files.'];
  list.append(element('li', {}, ...whole));
  const years = (index?.years ?? [])
    .toReversed()
    .flatMap(({ year, csv, ndjson }) => [
      element('span', { class: 'file-year' }, `${year}: `, ...forms(csv, ndjson)),
      ' ',
    ]);
  if (years.length > 0) list.append(element('li', {}, 'By year of observation (UTC): ', ...years));
  if (part !== null && count > 0) {
    const programs = [
      ['beancount', `${COMPAT_URL}/beancount/${part}.beancount`],
      ['hledger', `${COMPAT_URL}/hledger/${part}.journal`],
      ['quotes as JSON', `${COMPAT_URL}/quotes/${part}.json`],
    ] as const;
    const links = programs.flatMap(([text, href], at) => [at === 0 ? '' : ' · ', link(href, text)]);
    list.append(element('li', {}, 'Daily prices for other programs, with other markets in the same file: ', ...links));
  }
  return list;
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
