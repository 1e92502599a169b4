/** Everything that ingest accepts can be published: `verify` finds nothing. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { publish } from '../../../publisher/publish.ts';
import { verify } from '../../../publisher/verify/verify.ts';
import { ingest } from '../../ingest/ingest.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from '../world.ts';

/** Parts of texts: harmless words, and pieces of forbidden content. */
const PIECES = [
  ...'Gold é 日 \u{1f375} . - / \\ " , : { <b> %40 % \u0000 \u001b \u202e \u200b \u200d \ud83d'.split(' '),
  ...[' ', '\r\n', '\u2028', ...'jo @ example .org jo@example.org @scope/p@1.0/x tdm_ live_ k3y1d'.split(' ')],
  ...'eyJhbGciOiJSUzI1NiJ9 eyJzdWIiOiIxMjM0In0 "email":"x" "subject": actor'.split(' '),
];
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((parts) => parts.join(''));
const text = fc.oneof({ weight: 4, arbitrary: pieces }, fc.string({ unit: 'binary', maxLength: 12 }));
/** Only these, because one wrong character makes a URL invalid. */
const URL_PIECES = 'jo @ %40 example .org / ?to= & tdm_ live_ eyJhbGciOiJSUzI1NiJ9 .'.split(' ');
const query = fc.array(fc.constantFrom(...URL_PIECES), { maxLength: 8 }).map((parts) => parts.join(''));
const url = fc.oneof({ weight: 4, arbitrary: query }, text).map((rest) => `https://a.example/?${rest}`);
const metric = fc.constantFrom('price', 'volume', 'email', 'actor', 'subject', 'source', 'contact', 'keyId', 'data');

const source = fc.record({
  label: text,
  url,
  publisher: fc.option(text),
  licence: fc.option(text),
  attribution: fc.option(text),
});

/** Each in a market of its own, so that a fault in one does not refuse another. */
const marketRecords = fc
  .array(
    fc.record({
      name: text,
      unit: fc.record({ quantity: fc.constant(1), of: text }),
      sources: fc.array(source, { maxLength: 1 }),
    }),
  )
  .map((all) => all.map((fields, index) => ({ ...market(`m-${index}`), ...fields }) as IngestRecordInput));

const HOME = market('home');
const { amountMinor, currency, ...PROVENANCE } = { ...price('home', 0, 1), currency: 'USD', amountMinor: 1 };

const observationRecords = fc.array(fc.record({ metric, unit: text, sourceLabel: text, sourceUrl: url })).map((all) =>
  all.map(({ metric, unit, ...fields }) => {
    const value = metric === 'price' ? { amountMinor, currency } : { value: '1', unit };
    return { ...PROVENANCE, metric, ...value, ...fields } as IngestRecordInput;
  }),
);

test('`verify` finds nothing in accepted records; some records are accepted and some are refused', async () => {
  let [accepted, refused] = [0, 0];
  await fc.assert(
    fc.asyncProperty(marketRecords, observationRecords, async (markets, observations) => {
      const world = createWorld();
      const report = await ingest(world.dependencies, [HOME, ...markets, ...observations], { partial: true });
      accepted += report.accepted - 1;
      refused += report.faults.length;
      await publish(world.dependencies);
      const { findings } = await verify(readerOf(world.objects), { pageSizes: SMALL_PAGES, settled: true });
      expect(findings).toEqual([]);
    }),
    { numRuns: 50 },
  );
  expect(Math.min(accepted, refused)).toBeGreaterThan(15);
});
