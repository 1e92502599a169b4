/**
 * Refused bodies, one change to a valid body at a time. pipeline.test.ts proves for every operation that unknown fields, and fields
 * of another type, are refused.
 */
import { expect, it } from 'vitest';
import { UPLOAD_BYTES_MAX, UPLOAD_RECORDS_MAX } from '../../contract/ingest/ingest-uploads.ts';
import { PUBLICATION_MARKETS_MAX } from '../../contract/operations/publications.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { ASSERTIONS } from './claim-world.ts';
import { type ApiOperationId, seedWorld, validCall } from './valid-calls.ts';
import { watchLedger } from './watched-ledger.ts';
import { openApiWorld } from './world.ts';

const long = (characters: number) => 'x'.repeat(characters);
const EVIDENCE = { url: 'https://evidence.example/1' };
const dispute = (change: object) => ({ assertion: { ...ASSERTIONS.dispute, ...change } });
const corrected = (fields: object) => ({
  assertion: { ...ASSERTIONS.correction, corrected: { confidence: 'high', status: 'final', ...fields } },
});

/** The place of the fault, with its code if the code says more than that the value is not valid. */
const ROWS: { readonly [Id in ApiOperationId]?: readonly [what: string, change: object, place: string][] } = {
  createWatchlist: [
    ['a blank name', { name: '  ' }, '/name'],
    ['a name of two lines', { name: 'a\nb' }, '/name'],
    ['a name of 101 characters', { name: long(101) }, '/name'],
    ['a market twice', { markets: ['gold-usd', 'gold-usd'] }, '/markets'],
    ['a malformed slug', { markets: ['gold-usd', 'Gold'] }, '/markets/1'],
  ],
  createWaitlistRequest: [
    ['no consent', { consentedAt: undefined }, '/consentedAt'],
    ['consent in the future', { consentedAt: '2026-11-20T12:00:00.001Z' }, '/consentedAt'],
    ['consent without a time zone', { consentedAt: '2026-11-19T09:30:00' }, '/consentedAt'],
    ['a contact that is no address', { contact: 'jo at example.org' }, '/contact'],
    ['an address with a line break', { contact: 'jo@example.org\nbcc@example.org' }, '/contact'],
    ['an address with 65 characters before the @', { contact: `${long(65)}@example.org` }, '/contact'],
    ['an address with a label that ends in a hyphen', { contact: 'jo@example-.org' }, '/contact'],
    ['an address that is too long', { contact: `${long(250)}@example.org` }, '/contact'],
    ['a blank use case', { useCase: '   ' }, '/useCase'],
    ['a use case with a control character', { useCase: 'bell \u0007' }, '/useCase'],
    ['no volume', { requestsPerDay: 0 }, '/requestsPerDay'],
    ['a fraction of a request', { requestsPerDay: 1.5 }, '/requestsPerDay'],
  ],
  createApiKey: [
    ['no scope', { scopes: [] }, '/scopes'],
    ['a scope twice', { scopes: ['claims:read', 'claims:read'] }, '/scopes'],
    ['an unknown scope', { scopes: ['claims:read', 'everything'] }, '/scopes/1'],
    ['a label of two lines', { label: 'a\nb' }, '/label'],
    ['an end in the past', { expiresAt: '2026-11-20T12:00:00Z' }, '/expiresAt'],
  ],
  createSourceVerification: [
    ['a subject of both kinds', { subject: { type: 'observation', url: EVIDENCE.url } }, '/subject/url'],
    ['an unknown subject', { subject: { type: 'market' } }, '/subject/type'],
    ['a time without a zone', { verifiedAt: '2026-11-20T11:00:00' }, '/verifiedAt'],
    ['a text too long', { found: long(2001) }, '/found'],
  ],
  createIngestUpload: [
    ['no digest', { sha256: undefined }, '/sha256'],
    ['a digest in capitals', { sha256: 'A'.repeat(64) }, '/sha256'],
    ['no bytes', { bytes: 0 }, '/bytes'],
    ['too many bytes', { bytes: UPLOAD_BYTES_MAX + 1 }, '/bytes'],
    ['no records', { records: 0 }, '/records'],
    ['too many records', { records: UPLOAD_RECORDS_MAX + 1 }, '/records'],
    ['a dry run of too many records', { dryRun: true, records: 50_001 }, '/records'],
  ],
  createPublication: [
    ['no market', { markets: [] }, '/markets'],
    ['some markets', { markets: 'some' }, '/markets'],
    [
      'too many markets',
      { markets: Array.from({ length: PUBLICATION_MARKETS_MAX + 1 }, (_, at) => `m-${at}`) },
      '/markets',
    ],
    ['a market twice', { markets: ['gold-usd', 'gold-usd'] }, '/markets'],
    ['a malformed slug', { markets: ['Gold'] }, '/markets/0'],
    ['unknown markets', { markets: ['gold-usd', 'nowhere'] }, '/markets/1 market.unknown'],
  ],
  createErasure: ['operator', 'jo', 'account:acme', 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A'].map((subject) => [
    `the subject ${subject}`,
    { subject },
    '/subject',
  ]),
  removeMarket: [
    ['no reason', { reason: undefined }, '/reason'],
    ['a blank reason', { reason: '  ' }, '/reason'],
    ['an address in its reason', { reason: 'ask ada@example.org' }, '/reason'],
    ['a reason of 501 characters', { reason: long(501) }, '/reason'],
    ['a replacement that is no slug', { replacedBy: '../c' }, '/replacedBy'],
    ['itself as its replacement', { replacedBy: 'gold-usd' }, '/replacedBy market.itself'],
    ['an unknown replacement', { replacedBy: 'no' }, '/replacedBy market.unknown'],
  ],
  createClaim: [
    ['an unknown type', dispute({ type: 'deletion' }), '/assertion/type'],
    ['another label for the source', dispute({ sourceLabel: 'Mine' }), '/assertion/sourceLabel'],
    [
      'an amount that is no integer',
      corrected({ amountMinor: 1.5, currency: 'USD' }),
      '/assertion/corrected/amountMinor',
    ],
    [
      'two kinds of value at once',
      corrected({ amountMinor: 1, currency: 'USD', value: '1', unit: 'x' }),
      '/assertion/corrected/value',
    ],
    [
      'an address in a name',
      { assertion: { ...ASSERTIONS.representation, name: 'a@bullion.example' } },
      '/assertion/name',
    ],
    ['an address in a unit', corrected({ value: '1', unit: 'a@bullion.example' }), '/assertion/corrected/unit'],
    ['more than 10 pieces of evidence', { evidence: Array(11).fill(EVIDENCE) }, '/evidence'],
    ['a password in a URL', { evidence: [{ url: 'https://a:b@evidence.example/' }] }, '/evidence/0/url'],
  ],
  decideClaim: [['no word', { note: undefined }, '/note']],
  addClaimEvidence: [
    ['a relative URL', { url: 'evidence' }, '/url'],
    ['a note too long', { note: long(501) }, '/note'],
  ],
};

const rows = Object.entries(ROWS).flatMap(([id, some]) => some.map((row) => [id as ApiOperationId, ...row] as const));

it.each(rows)('%s with %s is refused, and leaves no trace', async (id, _, change, place) => {
  const ledger = watchLedger(openMemoryLedger());
  const world = openApiWorld({ ledger });
  await seedWorld(world);
  const call = await validCall(world, id);
  const before = ledger.commits.length;
  const { status, json } = await world.call({ ...call, body: { ...(call.body as object), ...change } });
  expect([status, json.code]).toEqual([422, 'validation-failed']);
  const found = json.errors.flatMap(({ pointer, code }: Record<string, string>) => [pointer, `${pointer} ${code}`]);
  expect(found).toContain(place);
  expect(ledger.commits).toHaveLength(before);
});

it.each<[ApiOperationId, object, string, RegExp]>([
  ['createErasure', { subject: 'alice' }, 'user:<sub>', /operator/],
  ['createClaim', { evidence: [{ url: 'https://user:pw@host.example/x' }] }, 'user name or password', /e-mail/],
])('%s with %j is told the form that it takes, and no other fault', async (id, change, form, other) => {
  const world = openApiWorld({ ledger: openMemoryLedger() });
  await seedWorld(world);
  const call = await validCall(world, id);
  const { json } = await world.call({ ...call, body: { ...(call.body as object), ...change } });
  expect(json.errors).toMatchObject([{ detail: expect.stringContaining(form) }]);
  expect(json.errors[0].detail).not.toMatch(other);
});
