/** The files of a market, and the requests that give the same data. */
import type { HistoryIndex } from '../../../../contract/files/history-files.ts';
import { FILE_ROWS_MAX } from '../../../../contract/files/history-rows.ts';
import { FACES_URL, historyIndexUrl, historyUrl, marketUrl } from '../../../../contract/files/routes.ts';
import { button, element } from './elements.ts';

export interface DownloadsContent {
  readonly slug: string;
  /** Without a slash at its end. */
  readonly base: string;
  readonly count: number;
  /** Null: the deployment publishes no files of histories. */
  readonly index: HistoryIndex | null;
  readonly hasLog: boolean;
  readonly hasFaces: boolean;
}

export function downloadsSection(content: DownloadsContent): HTMLElement {
  const said = element('p', { class: 'small', role: 'status' });
  const requests = requestsOf(content);
  return element(
    'section',
    { class: 'market-section', 'aria-labelledby': 'downloads-heading' },
    element('h2', { id: 'downloads-heading' }, 'Downloads'),
    files(content),
    element('h2', {}, 'The same by request'),
    element(
      'p',
      { class: 'soft' },
      'Every answer is a static file with an ETag, fresh for 15 seconds. No key is needed.',
    ),
    element('dl', { class: 'requests' }, ...requests.flatMap(([words, command]) => requestRow(words, command, said))),
    said,
  );
}

function files({ slug, count, index, hasFaces }: DownloadsContent): HTMLElement {
  const list = element('ul', { class: 'files' });
  const link = (href: string, text: string): HTMLElement => element('a', { href, download: true }, text);
  if (index?.csv != null && index.ndjson !== null) {
    const whole =
      count > FILE_ROWS_MAX
        ? ['The whole history: too long for one file, so take the years.']
        : ['The whole history: ', link(index.csv, 'CSV'), ' · ', link(index.ndjson, 'NDJSON')];
    list.append(element('li', {}, ...whole));
    const years = index.years
      .toReversed()
      .flatMap(({ year, csv, ndjson }) => [
        element('span', { class: 'file-year' }, `${year}: `, link(csv, 'CSV'), ' · ', link(ndjson, 'NDJSON')),
        ' ',
      ]);
    list.append(element('li', {}, 'By year of observation (UTC): ', ...years));
  } else {
    list.append(
      element(
        'li',
        {},
        count === 0 ? 'No files before the first observation.' : 'This service publishes no files of histories.',
      ),
    );
  }
  if (hasFaces) {
    const faces = [
      ['beancount', `${FACES_URL}/prices/${slug}.beancount`],
      ['hledger', `${FACES_URL}/prices/${slug}.journal`],
      ['quotes as JSON', `${FACES_URL}/quotes/${slug}.json`],
    ] as const;
    const links = faces.flatMap(([text, href], at) => [at === 0 ? '' : ' · ', link(href, text)]);
    list.append(element('li', {}, 'Daily prices for other programs: ', ...links));
  }
  return list;
}

function requestsOf({ slug, base, index, hasLog }: DownloadsContent): readonly (readonly [string, string])[] {
  const get = (path: string): string => `curl -s '${base}${path}'`;
  const csv = index?.csv ?? null;
  return [
    ['This market', get(marketUrl(slug))],
    ['The newest page of its history', get(historyUrl(slug))],
    ['Its pages and files', get(historyIndexUrl(slug))],
    ...(csv === null ? [] : ([['The history as CSV', `curl -sO '${base}${csv}'`]] as const)),
    ...(hasLog ? ([['The signed checkpoint of the log', get('/api/v1/log/checkpoint')]] as const) : []),
  ];
}

function requestRow(words: string, command: string, said: HTMLElement): HTMLElement[] {
  const code = element('code', {}, command);
  const copy = button('Copy', () => void copied(), { 'aria-label': `Copy the request: ${words}` });
  const copied = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      said.textContent = `Copied: ${words}.`;
    } catch {
      getSelection()?.selectAllChildren(code);
      said.textContent = 'The browser does not let this page copy. The request is selected: copy it by keyboard.';
    }
  };
  return [
    element('dt', {}, words),
    element('dd', { class: 'request' }, element('pre', { tabindex: '0', 'aria-label': words }, code), copy),
  ];
}
