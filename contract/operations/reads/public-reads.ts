/**
 * The public reads: static files that anybody may read without a credential. They are in the table for the OpenAPI
 * document. infra/edge/router.ts routes them, not the router of the write API.
 */
import * as z from 'zod';
import { historyIndex, historyIndexSchema } from '../../bodies/history-files.ts';
import { FILE_ROWS_MAX, HISTORY_FILE_FORMS } from '../../bodies/history-rows.ts';
import { incidentsSchema } from '../../bodies/incidents.ts';
import { MODIFIED_ROWS_MAX, modifiedCsv } from '../../bodies/modified.ts';
import { publicSourcesSchema } from '../../bodies/public-sources.ts';
import {
  CURSOR_LIFETIME_SECONDS,
  INCIDENTS_MAX,
  MARKETS_PAGE_SIZE,
  OBSERVATIONS_PAGE_SIZE,
  PUBLIC_SOURCES_MAX,
} from '../../files/limits.ts';
import { collectionSchema, cursorSchema, marketSchema, slugSchema, snapshotSchema } from '../../values/market.ts';
import { observationSchema } from '../../values/metric.ts';
import { waitlistBody, waitlistSchema } from '../../values/waitlist.ts';
import { publicReads, textFile } from '../operation.ts';
import { market, observation } from './example-market.ts';
import { CSV_TEXT, csvFile, TEXT } from './text-files.ts';

export const marketPageSchema = collectionSchema(marketSchema, MARKETS_PAGE_SIZE);

export const historyPageSchema = collectionSchema(observationSchema, OBSERVATIONS_PAGE_SIZE);

/** The schema stays open, because the document would have to describe itself. */
const openApiSchema = z.looseObject({
  openapi: z.string().describe('The version of the OpenAPI Specification.'),
  info: z.looseObject({}).describe('Title, version and conventions of the API.'),
  paths: z.looseObject({}).describe('The operations, by path and method.'),
});

const pagedQuery = z.strictObject({
  cursor: cursorSchema
    .optional()
    .describe('`nextCursor` of the previous page, unchanged. If left out: the first page.'),
});
const params = z.strictObject({ slug: slugSchema });

const yearParams = z.strictObject({
  slug: slugSchema,
  year: z
    .string()
    .regex(/^\d{4}$/)
    .describe('A calendar year of `observedAt`, in UTC.'),
});

const ndjsonFile = () =>
  textFile('One observation on each line, as in the pages of the history', 'application/x-ndjson', TEXT);

const CURSOR = '4-25abf3f5c0d1e2938475610fedcba987';
const FILE_TEXT =
  'Each observation in its newest version: superseded ones are only on the pages of the history. Announced ones are in NDJSON, and not in CSV. The files are ' +
  'there from the second observation on, those of years if the history has more than one page. Not every deployment publishes files: see `projections` of the snapshot.';
const TOO_LONG_TEXT = `A file has at most ${FILE_ROWS_MAX.toLocaleString('en')} rows. A longer history answers 410 with the URLs of its years.`;
const YEAR_TEXT = 'Only for a history of more than one page. A year that has passed changes only by corrections.';
const FILE_PROBLEMS = ['market-removed', 'history-too-long'] as const;
const CSV_EXAMPLE = HISTORY_FILE_FORMS.csv.header + HISTORY_FILE_FORMS.csv.line(observation);
const NDJSON_EXAMPLE = HISTORY_FILE_FORMS.ndjson.line(observation);

export const publicReadOperations = publicReads({
  listMarkets: {
    path: '/api/v1/markets',
    summary: 'List the markets, ordered by slug',
    description:
      'Pages are immutable. A walk that began before a publication ends on the generation on which it began, and meets ' +
      `every market exactly once. A page has at most ${MARKETS_PAGE_SIZE} markets. A cursor works for at least ${CURSOR_LIFETIME_SECONDS / 3600} hours after a newer generation.`,
    query: pagedQuery,
    success: { status: 200, description: 'A page of markets', body: marketPageSchema },
    example: { response: { data: [market], page: { next: null, nextCursor: null } } },
  },
  getMarket: {
    path: '/api/v1/markets/{slug}',
    summary: 'Read a market, with the newest observation of each of its metrics',
    description: 'The same object as in the list. It names the sources of the market, and where its history is.',
    params,
    success: { status: 200, description: 'The market', body: marketSchema },
    problems: ['market-removed'],
    example: { params: { slug: 'gold-usd' }, response: market },
  },
  getMarketHistory: {
    path: '/api/v1/markets/{slug}/history',
    summary: 'Read the observations of a market, newest first',
    description:
      'A correction supersedes an observation; it never overwrites it. Both observations stay, and name each other by ' +
      `\`supersedes\` and \`supersededBy\`. A page has at most ${OBSERVATIONS_PAGE_SIZE} observations. The first page may have as few as one.`,
    params,
    query: pagedQuery,
    success: { status: 200, description: 'A page of observations', body: historyPageSchema },
    problems: ['market-removed'],
    example: {
      params: { slug: 'gold-usd' },
      response: { data: [observation], page: { next: `history/pages/${CURSOR}.json`, nextCursor: CURSOR } },
    },
  },
  getHistoryIndex: {
    path: '/api/v1/markets/{slug}/history/index',
    summary: "Read which pages and files a market's history has",
    description:
      'The closed pages can be read in parallel, or only those of some dates. Only for a history of more than one page. Not every deployment publishes files: see ' +
      '`projections` of the snapshot.',
    params,
    success: { status: 200, description: 'Closed pages, years and files', body: historyIndexSchema },
    problems: ['market-removed'],
    example: {
      params: { slug: 'gold-usd' },
      response: historyIndex(
        'gold-usd',
        [
          {
            cursor: CURSOR,
            count: 64,
            firstObservedAt: '2025-11-02T00:00:00Z',
            lastObservedAt: '2026-09-05T00:00:00Z',
          },
        ],
        ['2025', '2026'],
      ),
    },
  },
  getHistoryCsv: {
    path: '/api/v1/markets/{slug}/history.csv',
    summary: 'Read the whole standing history of a market as CSV, oldest first',
    description: `${FILE_TEXT} ${CSV_TEXT} ${TOO_LONG_TEXT}`,
    params,
    success: csvFile(),
    problems: FILE_PROBLEMS,
    example: { params: { slug: 'gold-usd' }, response: CSV_EXAMPLE },
  },
  getHistoryNdjson: {
    path: '/api/v1/markets/{slug}/history.ndjson',
    summary: 'Read the whole standing history of a market as NDJSON, oldest first',
    description: `${FILE_TEXT} ${TOO_LONG_TEXT}`,
    params,
    success: ndjsonFile(),
    problems: FILE_PROBLEMS,
    example: { params: { slug: 'gold-usd' }, response: NDJSON_EXAMPLE },
  },
  getHistoryYearCsv: {
    path: '/api/v1/markets/{slug}/history/{year}.csv',
    summary: 'Read one calendar year of the standing history as CSV, oldest first',
    description: `${YEAR_TEXT} ${CSV_TEXT}`,
    params: yearParams,
    success: csvFile(),
    problems: FILE_PROBLEMS,
    example: { params: { slug: 'gold-usd', year: '2026' }, response: CSV_EXAMPLE },
  },
  getHistoryYearNdjson: {
    path: '/api/v1/markets/{slug}/history/{year}.ndjson',
    summary: 'Read one calendar year of the standing history as NDJSON, oldest first',
    description: YEAR_TEXT,
    params: yearParams,
    success: ndjsonFile(),
    problems: FILE_PROBLEMS,
    example: { params: { slug: 'gold-usd', year: '2026' }, response: NDJSON_EXAMPLE },
  },
  getModified: {
    path: '/api/v1/modified.csv',
    summary: 'Read which markets have changed last',
    description:
      `\`slug,revision,updatedAt\` of the ${MODIFIED_ROWS_MAX.toLocaleString('en')} markets that changed last, newest first: ` +
      'fetch again those whose revision is new. A removed market is not in it. Published with the list. Not every deployment ' +
      'publishes it: `feeds` in `projections` of the snapshot.',
    success: csvFile(),
    example: { response: modifiedCsv([{ slug: market.slug, revision: market.revision, updatedAt: market.updatedAt }]) },
  },
  getIncidents: {
    path: '/api/v1/incidents.json',
    summary: 'Read when publication or a source was late, and for how long',
    description:
      `The last ${INCIDENTS_MAX} incidents, newest first. An incident that is over never changes. Not every deployment publishes it: ` +
      '`feeds` in `projections` of the snapshot.',
    success: { status: 200, description: 'One entry for each incident', body: incidentsSchema },
    example: {
      response: {
        since: '2026-09-29T06:00:00.000Z',
        data: [
          {
            id: '20261001150000000-source-late-3d7d5271',
            kind: 'source-late',
            about: 'LiteLLM',
            markets: 2278,
            startedAt: '2026-10-01T15:00:00.000Z',
            endedAt: '2026-10-01T17:12:04.210Z',
            summary: 'The source LiteLLM did not publish in time: 2278 markets waited for a value.',
          },
        ],
      },
    },
  },
  getSourcesFile: {
    path: '/api/v1/sources.json',
    summary: 'Read the sources of all markets: licence, cadence, the last fetch, the last change',
    description:
      `The first ${PUBLIC_SOURCES_MAX.toLocaleString('en')} by label. Published with the list, and once a day for each source that ` +
      'was fetched and is unchanged. Not every deployment publishes it: `feeds` in `projections` of the snapshot.',
    success: { status: 200, description: 'One entry for each source', body: publicSourcesSchema },
    example: {
      response: {
        data: [
          {
            attribution: null,
            cadence: null,
            expectedNextAt: null,
            label: 'LiteLLM',
            lastChangedAt: '2026-09-29T06:00:04.210Z',
            lastFetchedAt: '2026-10-02T06:00:01.800Z',
            late: null,
            licence: 'MIT',
            markets: 2278,
            publisher: 'BerriAI',
            url: 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json',
          },
        ],
      },
    },
  },
  getSnapshot: {
    path: '/api/v1/snapshot',
    summary: 'Read the number of the published generation, and when it was published',
    description:
      'Each publication of changes makes one generation, with the next number. Only this answer changes with ' +
      'every generation.',
    success: { status: 200, description: 'The newest generation', body: snapshotSchema },
    isAlwaysThere: true,
    example: {
      response: {
        generation: 4,
        publishedAt: '2026-10-01T12:00:00.000Z',
        counts: { markets: 1, observations: 57, unknownValues: 0 },
        listDigest: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        listGeneration: 4,
      },
    },
  },
  getWaitlist: {
    path: '/api/v1/waitlist',
    summary: 'Read how to ask for an API key',
    description: 'Requests come by e-mail. A request that is approved becomes an API key.',
    success: {
      status: 200,
      description: 'The address for requests, and what a request must state',
      body: waitlistSchema,
    },
    isAlwaysThere: true,
    example: { response: waitlistBody({ email: 'keys@example.com' }) },
  },
  getOpenApi: {
    path: '/api/v1/openapi.json',
    summary: 'Read this description of the API',
    description: 'It names the hosts of this deployment.',
    success: { status: 200, description: 'An OpenAPI 3.1 document', body: openApiSchema },
    isAlwaysThere: true,
    example: { response: { openapi: '3.1.1', info: { title: 'Tidemark', version: '1.0.0' }, paths: {} } },
  },
});
