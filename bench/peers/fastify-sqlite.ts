/**
 * The usual way to build such an API, done well: Fastify answers from rows in SQLite, with prepared statements, a
 * compiled serialiser, ETags that need no body, and compression as the client likes it. Prints its port.
 */
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { moneyTexts } from '../../contract/money-texts.ts';
import { listResponse, marketResponse } from './fastify-schema.ts';

type Row = { readonly [column: string]: string | number | null };

const PAGE_SIZE = 100;
const COMPRESSIBLE_MIN_LENGTH = 1_000;
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 5;

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('give the path of the database');
const database = new DatabaseSync(path);
database.exec('PRAGMA journal_mode = WAL; PRAGMA mmap_size = 268435456; PRAGMA query_only = ON');
const statements = {
  market: database.prepare('SELECT * FROM markets WHERE slug = ?'),
  revision: database.prepare('SELECT revision FROM markets WHERE slug = ?'),
  metrics: database.prepare('SELECT * FROM metrics WHERE market = ?'),
  sources: database.prepare('SELECT * FROM sources WHERE market = ?'),
  page: database.prepare('SELECT * FROM markets WHERE slug > ? ORDER BY slug LIMIT ?'),
  pageMetrics: database.prepare('SELECT * FROM metrics WHERE market BETWEEN ? AND ?'),
  pageSources: database.prepare('SELECT * FROM sources WHERE market BETWEEN ? AND ?'),
  listVersion: database.prepare('SELECT version FROM list_version'),
};

const app = Fastify({ keepAliveTimeout: 65_000 });
const compressors = {
  br: (body: string) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body: string) => promisify(gzip)(body, { level: GZIP_LEVEL }),
};

app.addHook('onSend', async (request, reply, payload) => {
  const accepted = request.headers['accept-encoding'] ?? '';
  const coding = /\bbr\b/.test(String(accepted)) ? 'br' : /\bgzip\b/.test(String(accepted)) ? 'gzip' : null;
  if (coding === null || typeof payload !== 'string' || payload.length < COMPRESSIBLE_MIN_LENGTH) return payload;
  reply.header('Content-Encoding', coding).removeHeader('Content-Length');
  return compressors[coding](payload);
});

app.get<{ Params: { slug: string } }>(
  '/api/v1/markets/:slug',
  { schema: { response: { 200: marketResponse } } },
  async (request, reply) => {
    const { slug } = request.params;
    const known = statements.revision.get(slug) as { revision: number } | undefined;
    if (known === undefined) return reply.code(404).send();
    if (isCurrent(request, reply, `"${known.revision}"`)) return reply.code(304).send();
    const market = statements.market.get(slug) as Row;
    return marketOf(market, statements.metrics.all(slug) as Row[], statements.sources.all(slug) as Row[]);
  },
);

app.get<{ Querystring: { cursor?: string } }>(
  '/api/v1/markets',
  { schema: { response: { 200: listResponse } } },
  async (request, reply) => {
    const { version } = statements.listVersion.get() as { version: number };
    if (isCurrent(request, reply, `"list-${version}"`)) return reply.code(304).send();
    const rows = statements.page.all(request.query.cursor ?? '', PAGE_SIZE + 1) as Row[];
    const page = rows.slice(0, PAGE_SIZE);
    const [first, last] = [page[0]?.slug ?? '', page.at(-1)?.slug ?? ''];
    const metrics = Map.groupBy(statements.pageMetrics.all(first, last) as Row[], ({ market }) => market);
    const sources = Map.groupBy(statements.pageSources.all(first, last) as Row[], ({ market }) => market);
    const data = page.map((row) => marketOf(row, metrics.get(row.slug ?? '') ?? [], sources.get(row.slug ?? '') ?? []));
    return { data, page: { nextCursor: rows.length > PAGE_SIZE ? last : null } };
  },
);

/** Sets the fields that every answer carries, and says whether the client has it. */
function isCurrent(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.headers({
    ETag: etag,
    'Cache-Control': 'public, max-age=15, stale-if-error=300',
    Vary: 'Accept-Encoding',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, Age, Link, Cache-Status',
    'X-Content-Type-Options': 'nosniff',
  });
  const given = request.headers['if-none-match'];
  return given?.split(',').some((one) => one.trim().replace(/^W\//, '') === etag) ?? false;
}

function marketOf(row: Row, metrics: readonly Row[], sources: readonly Row[]) {
  return {
    // The sample has one source for each market.
    bySource: {},
    disputed: false,
    disputedMetrics: [],
    history: {
      count: row.observations,
      firstObservedAt: row.first_observed_at,
      href: `/api/v1/markets/${row.slug}/history`,
      lastObservedAt: row.last_observed_at,
    },
    kind: row.kind,
    metrics: Object.fromEntries([
      ['price', null],
      ...metrics.map((metric) => [metric.name, metricOf(metric, Number(row.unit_quantity))]),
    ]),
    name: row.name,
    nativeCurrency: row.native_currency,
    representedBy: null,
    representedBySalt: null,
    revision: row.revision,
    slug: row.slug,
    sources: sources.map(({ attribution, label, licence, publisher, url }) => {
      const unknown = { cadence: null, expectedNextAt: null, verification: null };
      return { attribution, label, licence, publisher, url, ...unknown };
    }),
    status: row.status,
    unit: { of: row.unit_of, quantity: row.unit_quantity },
    updatedAt: row.updated_at,
  };
}

function metricOf(row: Row, quantity: number) {
  const value =
    row.kind === 'money'
      ? {
          amountMinor: row.amount_minor,
          currency: row.currency,
          ...moneyTexts(row.amount_minor as number | null, row.currency as string, quantity),
        }
      : { unit: row.unit, value: row.value };
  return {
    ...value,
    confidence: row.confidence,
    kind: row.kind,
    observedAt: row.observed_at,
    releasedAt: row.released_at,
    rounded: row.rounded === 1,
    sourceLabel: row.source_label,
    sourceUrl: row.source_url,
    sourceValue: row.source_value,
    status: row.status,
    unknownReason: row.unknown_reason,
  };
}

const address = await app.listen({ host: '127.0.0.1', port: 0 });
console.log(new URL(address).port);
