/**
 * The examples of the reference as shell commands. An id is only known from an earlier answer, so that example stores it in a
 * variable. A test runs each example, after those that it needs, against a service with the sample. Pure.
 */
import { READ_HOST, WRITE_HOST } from '../../../contract/files/example-hosts.ts';
import type { AnswerView, OperationView } from './openapi-view.ts';

interface Variable {
  readonly setBy: string;
  /** The prefix of the paths with the id, and the name of their parameter. Null: only a part of a path has it, or a body. */
  readonly of: readonly [path: string, param: string] | null;
  /** The filter that reads the value from the answer. Default: the id. */
  readonly filter?: string;
}

const VARIABLES: Readonly<Record<string, Variable>> = {
  LOG_SIZE: { setBy: 'getLogCheckpoint', filter: 'sed -n 2p', of: null },
  EXPORT_PART: {
    setBy: 'getExport',
    filter: `jq -r '.resources[0].path | ltrimstr("parts/") | rtrimstr(".parquet")'`,
    of: ['/api/v1/exports/parts/', 'file'],
  },
  WATCHLIST: { setBy: 'createWatchlist', of: ['/api/v1/watchlists/{id}', 'id'] },
  CLAIM: { setBy: 'createClaim', of: ['/api/v1/claims/{id}', 'id'] },
  VERIFICATION: { setBy: 'createSourceVerification', of: ['/api/v1/source-verifications/{id}', 'id'] },
  BATCH: { setBy: 'createIngestBatch', of: ['/api/v1/ingest/batches/{id}', 'id'] },
  UPLOAD: { setBy: 'createIngestUpload', of: ['/api/v1/ingest/uploads/{id}', 'id'] },
  RUN: { setBy: 'createSourceRun', of: ['/api/v1/sources/{name}/runs/{run}', 'run'] },
  PUBLICATION: { setBy: 'createPublication', of: ['/api/v1/publications/{id}', 'id'] },
  REQUEST: { setBy: 'createWaitlistRequest', of: ['/api/v1/waitlist-requests/{id}', 'id'] },
  KEY_ID: { setBy: 'createApiKey', of: ['/api/v1/api-keys/{id}', 'id'] },
  ERASURE: { setBy: 'createErasure', of: ['/api/v1/erasures/{id}', 'id'] },
};

const LAST_PART = { n: '$(printf %03d $((LOG_SIZE / 256)))', width: '$((LOG_SIZE % 256))' };

/** Path parameters whose values come from shell variables, by the beginning of the path. */
const PARAMS: readonly (readonly [path: string, params: Readonly<Record<string, string>>])[] = [
  ...Object.entries(VARIABLES).flatMap(([name, { of }]) =>
    of === null ? [] : [[of[0], { [of[1]]: `$${name}` }] as const],
  ),
  ['/api/v1/log/tile/{level}/{n}.p/', { level: 'entries', ...LAST_PART }],
  ['/api/v1/log/ndjson/{n}.p/', LAST_PART],
  ['/api/v1/exports/{date}/', { date: '$(date -u +%Y-%m-%d)' }],
];

/** Members of bodies whose values come from shell variables. */
const BODIES: Readonly<Record<string, object>> = {
  createSourceVerification: { verifiedAt: '$(date -u +%Y-%m-%dT%H:%M:%SZ)' },
  createApiKey: { waitlistRequest: '$REQUEST' },
};

/** Examples that must run earlier, besides those that set a variable. */
const AFTER: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['getSource', 'deleteSource', 'pauseSource', 'resumeSource', 'listSourceRuns', 'createSourceRun'].map((id) => [
      id,
      ['putSource'],
    ]),
  ),
  decideClaim: ['reviewClaim'],
  createTakedown: ['removeMarket'],
  deleteEntitlement: ['putEntitlement'],
  createApiKey: ['decideWaitlistRequest'],
};

/** The revision that an example names, if it is not the first one. */
const VERSIONS: Readonly<Record<string, string>> = { decideClaim: '2' };

const LONG_HISTORY = 'a market with more than one page of history';
const OTHER_SUBJECT = 'the key of another subject than the one that made the claim';
const LANGUAGE_MODELS = 'markets of language models, as `tidemark ingest --recipe` of LiteLLM makes them';

/** Conditions that a new service with the sample and one key does not fulfil. It refuses these examples. */
export const CONDITIONS: Readonly<Record<string, string>> = {
  getHistoryIndex: LONG_HISTORY,
  getHistoryYearCsv: LONG_HISTORY,
  getHistoryYearNdjson: LONG_HISTORY,
  getCompatGenaiPrices: LANGUAGE_MODELS,
  listCompatModelDays: LANGUAGE_MODELS,
  getCompatModels: LANGUAGE_MODELS,
  getMarketFeed: 'a service that publishes the feed of each market',
  getReleases: 'a service that publishes the calendar of releases',
  getBadge: 'a service that publishes badges',
  getBadgeEndpoint: 'a service that publishes badges',
  getOembed: 'a service that publishes embeds',
  reviewClaim: OTHER_SUBJECT,
  decideClaim: OTHER_SUBJECT,
  replaySourceRun: 'a run that has fetched a file',
};

/** The examples that must run before this one, in order. */
export function neededExamples({ operationId, path }: Pick<OperationView, 'operationId' | 'path'>): readonly string[] {
  const texts = [...Object.values(paramsOf(path)), JSON.stringify(BODIES[operationId] ?? {})].join(' ');
  const setters = Object.entries(VARIABLES).flatMap(([name, { setBy }]) =>
    new RegExp(`\\b${name}\\b`).test(texts) ? [setBy] : [],
  );
  return [...new Set([...setters, ...(AFTER[operationId] ?? [])])];
}

/** The variable that an example sets. Null: none. */
export function variableOf(operationId: string): string | null {
  return Object.entries(VARIABLES).find(([, { setBy }]) => setBy === operationId)?.[0] ?? null;
}

export function curlOf({ operationId, method, path, row, parameters, requestBody, responses }: OperationView): string {
  const { example, scopes } = row;
  const query = new URLSearchParams(example.query ?? {}).toString();
  const params: Readonly<Record<string, string>> = { ...example.params, ...paramsOf(path) };
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name] ?? name;
    return value.includes('$') ? value : encodeURIComponent(value);
  });
  const url = quoted(`${scopes === null ? READ_HOST : WRITE_HOST}${target}${query === '' ? '' : `?${query}`}`);
  const headers = parameters.filter(({ name, required }) => required === true && HEADER_VALUES[name] !== undefined);
  const hasBinary = Object.keys((responses['200'] as AnswerView | undefined)?.content ?? {}).some((type) =>
    /gzip|parquet|octet/.test(type),
  );
  const body = example.body === undefined ? null : { ...example.body, ...BODIES[operationId] };
  const text = body === null ? '' : JSON.stringify(body, null, 2);
  const variable = variableOf(operationId);
  // The answer is shown as well as stored.
  const pipe = variable === null ? '' : ` | tee /dev/stderr | ${VARIABLES[variable]?.filter ?? 'jq -r .id'}`;
  const lines = [
    `curl -sS ${hasBinary ? '-O ' : ''}${method === 'GET' || (method === 'POST' && requestBody !== undefined) ? '' : `-X ${method} `}${url}`,
    ...(scopes === null ? [] : [`-H "Authorization: Bearer $TIDEMARK_API_KEY"`]),
    ...headers.map(({ name }) => `-H ${HEADER_VALUES[name]?.(operationId)}`),
    ...(row.precondition === 'if-match-or-none-match' ? [`-H 'If-None-Match: *'`] : []),
    ...(body === null
      ? []
      : [`-H 'Content-Type: application/json' --data-binary @- <<${text.includes('$') ? 'JSON' : "'JSON'"}`]),
  ];
  const command = `${lines.join(' \\\n  ')}${pipe}${body === null ? '' : `\n${text}\nJSON`}`;
  return variable === null ? command : `${variable}=$(${command}${body === null ? '' : '\n'})`;
}

function paramsOf(path: string): Readonly<Record<string, string>> {
  return PARAMS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? {};
}

function quoted(text: string): string {
  return text.includes('$') ? `"${text}"` : `'${text}'`;
}

/** Values of required header fields. The key is made without a program that a system may lack. */
const HEADER_VALUES: Readonly<Record<string, (operationId: string) => string>> = {
  'Idempotency-Key': () => '"Idempotency-Key: docs-$(date +%s)-$RANDOM"',
  'If-Match': (operationId) => `'If-Match: "${VERSIONS[operationId] ?? '1'}"'`,
};
