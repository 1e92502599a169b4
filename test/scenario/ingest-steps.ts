/** The operator sends batches, and readers see their records. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { BatchReport, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { NDJSON_TYPE } from '../../contract/operations/ingest.ts';
import { type Answer, fieldOf, refused, succeeded } from './answers.ts';
import { FIRST_MARKETS, marketRecord, priceRecord, SOURCE, shownPrice } from './records.ts';
import { DONE_WITHIN_MS, poll, type Session, type Step, type WriteParts } from './session.ts';

const BATCHES = '/api/v1/ingest/batches';

/** Sends a batch, and gives the report once it is finished, and public where there is something to publish. */
export async function sendBatch(session: Session, parts: WriteParts, query = ''): Promise<BatchReport> {
  const answer = await session.write('POST', `${BATCHES}${query}`, parts);
  return await reportOf(session, answer);
}

/** The report of an accepted batch. */
async function reportOf(session: Session, answer: Answer): Promise<BatchReport> {
  const { id } = succeeded('createIngestBatch', answer);
  assert.equal(fieldOf(answer, 'location'), `${BATCHES}/${id}`);
  session.keepPrivate(id);
  return await poll(
    DONE_WITHIN_MS,
    async () => succeeded('getIngestBatch', await session.write('GET', `${BATCHES}/${id}`)),
    ({ state, finishedAt, generation }) => finishedAt !== null && (state !== 'applied' || generation !== null),
  );
}

/** A record a line. */
export function ndjson(records: readonly unknown[]): Buffer {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

const names = Object.keys(FIRST_MARKETS) as (keyof typeof FIRST_MARKETS)[];

function firstRecords(session: Session): readonly IngestRecordInput[] {
  return names.flatMap((name) => {
    const slug = session.slug(name);
    const { currency, prices } = FIRST_MARKETS[name];
    return [marketRecord(slug, currency), ...prices.map((price) => priceRecord(slug, currency, price))];
  });
}

export const ingestSteps: readonly Step[] = [
  {
    says: 'markets of the operator in currencies of 0, 2 and 3 decimals are accepted, applied and published',
    async run(session) {
      const me = succeeded('getMe', await session.write('GET', '/api/v1/me'));
      session.note('operator', me.actor);
      session.keepPrivate(me.actor.replace(/^key:/, ''));
      const records = firstRecords(session);
      const body = { records };
      const key = randomUUID();
      const answer = await session.write('POST', BATCHES, { key, body });
      const report = await reportOf(session, answer);
      session.note('batch', { id: report.id, key, body, text: answer.text });
      assert.equal(report.state, 'applied');
      assert.deepEqual(report.errors, []);
      assert.deepEqual(report.counts, { accepted: records.length, unchanged: 0, refused: 0, newMarkets: names.length });
      assert.deepEqual(report.markets, names.map((name) => session.slug(name)).sort());
    },
  },
  {
    says: 'the same request again is answered as it was, and another one with its key is refused',
    async run(session) {
      const { key, body, text } = session.noted('batch');
      const replayed = await session.write('POST', BATCHES, { key, body });
      succeeded('createIngestBatch', replayed);
      assert.equal(fieldOf(replayed, 'idempotency-replayed'), 'true');
      assert.equal(replayed.text, text);
      const other = { records: firstRecords(session).slice(1) };
      refused('idempotency-key-reused', await session.write('POST', BATCHES, { key, body: other }));
      refused('idempotency-key-missing', await session.write('POST', BATCHES, { key: null, body }));
    },
  },
  {
    says: 'the same records under a new key change nothing',
    async run(session) {
      const { body } = session.noted('batch');
      const { state, counts } = await sendBatch(session, { body });
      const unchanged = firstRecords(session).length;
      assert.deepEqual({ state, counts }, { state: 'applied', counts: { accepted: 0, unchanged, refused: 0 } });
    },
  },
  {
    says: 'a reader sees the markets and their histories, with the numbers that were sent and their source; unknown is null, with a reason',
    async run(session) {
      for (const name of names) {
        const slug = session.slug(name);
        const { currency, prices } = FIRST_MARKETS[name];
        const answer = await session.read(marketUrl(slug));
        const market = succeeded('getMarket', answer);
        const [newest, ...older] = [...prices].reverse().map((price) => shownPrice(slug, currency, price));
        assert.deepEqual(market.metrics, { price: newest });
        assert.deepEqual(market.sources, [{ ...SOURCE, cadence: null, expectedNextAt: null, verification: null }]);
        assert.equal(market.nativeCurrency, currency);
        assert.equal(market.history.count, prices.length);
        assert.equal(market.history.href, historyUrl(slug));
        const { data, page } = succeeded('getMarketHistory', await session.read(market.history.href));
        assert.equal(page.nextCursor, null);
        const shown = data.map(({ id, recordedAt, ...rest }) => rest);
        const alone = { metric: 'price', retraction: null, supersedes: null, supersededAt: null, supersededBy: null };
        assert.deepEqual(
          shown,
          [newest, ...older].map((price) => ({ ...price, ...alone })),
        );
        if (name === 'yen') session.note('yenBefore', data);
        if (name === 'quiet') session.note('untouched', { etag: fieldOf(answer, 'etag'), text: answer.text });
      }
    },
  },
  {
    says: 'lines with bad rows are refused as a whole, and none of them becomes public',
    async run(session) {
      const slug = session.slug('refused');
      const { state, counts, generation } = await sendBatch(session, lines(linesOf(slug)));
      assert.deepEqual({ state, generation }, { state: 'refused', generation: null });
      assert.equal(counts.accepted, 0);
      refused('not-found', await session.read(marketUrl(slug)));
    },
  },
  {
    says: 'with `partial` the good rows are taken in, and the report names the bad ones by line, JSON Pointer and code; a dry run says so before',
    async run(session) {
      const slugs = [session.slug('copper'), session.slug('tin')];
      const sent = lines(slugs.flatMap(linesOf));
      const examined = await sendBatch(session, sent, '?partial=true&dryRun=true');
      assert.deepEqual([examined.state, examined.generation], ['examined', null]);
      const report = await sendBatch(session, sent, '?partial=true');
      assert.equal(report.state, 'applied');
      for (const { counts, errors, markets } of [examined, report]) {
        assert.deepEqual(counts, { accepted: 4, unchanged: 0, refused: 4, newMarkets: 2 });
        assert.deepEqual(
          errors.map(({ line, index, pointer, code }) => [line, index, pointer, code]),
          [0, 4].flatMap((first) => [
            [first + 3, first + 2, '/amountMinor', 'amount.not-integral'],
            [first + 4, first + 3, '/sourceUrl', 'source.url-missing'],
          ]),
        );
        assert.deepEqual(markets, slugs);
      }
      for (const slug of slugs) {
        const { metrics, history } = succeeded('getMarket', await session.read(marketUrl(slug)));
        assert.equal(metrics.price?.kind === 'money' && metrics.price.amountMinor, 950);
        assert.equal(history.count, 1);
      }
    },
  },
];

/** A market, a price of it, and two prices that are refused. */
function linesOf(slug: string): readonly unknown[] {
  const [good, ...bad] = ['2025-06-02', '2025-06-03', '2025-06-04'].map((day) =>
    priceRecord(slug, 'EUR', { day, amountMinor: 950, sourceValue: '9.50' }),
  );
  return [marketRecord(slug, 'EUR'), good, { ...bad[0], amountMinor: 9.5 }, { ...bad[1], sourceUrl: '' }];
}

function lines(records: readonly unknown[]): WriteParts {
  return { body: ndjson(records), headers: { 'content-type': NDJSON_TYPE } };
}
