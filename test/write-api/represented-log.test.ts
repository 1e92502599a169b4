/** The name of a representative, and the log: it holds a digest only, and nothing is left after an erasure. */
import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { runErasure } from '../../lambdas/accounts/run-erasure.ts';
import { publish } from '../../publisher/publish.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { readLog, readTexts, withLog } from '../publisher/log/test-log.ts';
import { dependenciesOn, SMALL_PAGES } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { ASSERTIONS, act, filed, openClaimWorld } from './claim-world.ts';
import { openDumpedLedger } from './dumped-ledger.ts';
import { seededBytes } from './world.ts';

const NAME = ASSERTIONS.representation.name;

it('the log has the digest of salt and name; an erasure removes both from the ledger and from every public byte', async () => {
  const ledger = openDumpedLedger();
  const scopes = { alice: ['claims:write'], rita: ['claims:review'] } as const;
  const world = await openClaimWorld({ ledger, scopes });
  const objects = openMemoryObjects();
  let attempts = 0;
  const newAttemptId = () => `of-a-test-${++attempts}`;
  const dependencies = withLog({ ...dependenciesOn(ledger, objects, world, SMALL_PAGES), newAttemptId });
  await publish(dependencies);

  const id = await filed(world, ASSERTIONS.representation);
  for (const action of ['start', 'accept'] as const) await act(world, id, action);
  await publish(dependencies);
  const salt = (await ledger.get(marketKey('gold-usd')))?.value.standing?.representedBy?.salt ?? '';
  const digest = createHash('sha256').update(`${salt}\n${NAME}`).digest('hex');
  const standings = async () => (await readLog(objects)).filter(({ type }) => type === 'standing');
  expect(await standings()).toMatchObject([{ market: 'gold-usd', representedBy: { digest } }]);

  /** Where a text is: in items of the ledger, unpacked, and in objects, decompressed. */
  const holders = async (text: string) => {
    const items = (await ledger.dump()).map(
      (item) => [`${item.partition} ${item.sort}`, unpacked(item.value)] as const,
    );
    const bodies = [...objects.snapshot()].map(([key, { body }]) => [key, plain(Buffer.from(body))] as const);
    return [...items, ...bodies].filter(([, content]) => content.includes(text)).map(([where]) => where);
  };
  const shown = ['public/api/v1/markets/gold-usd.json', 'public/api/v1/markets.json'];
  for (const text of [NAME, salt]) expect(await holders(text)).toEqual(expect.arrayContaining(shown));
  expect((await holders(salt)).filter((where) => !where.startsWith('public/'))).toEqual(['market/gold-usd record']);
  expect((await holders(digest)).filter((where) => where.startsWith('log/entries'))).toHaveLength(1);

  const answer = await world.call({
    ...{ method: 'POST', path: '/api/v1/erasures', as: 'operator' },
    body: { subject: 'user:alice' },
  });
  const newId = (prefix: string) => `${prefix}_${newUlid(world.nowMs, seededBytes(newAttemptId()))}`;
  await runErasure({ ledger, nowMs: () => world.nowMs, newAttemptId, newId }, answer.json.id);
  await publish(dependencies);
  // Pages of the list that readers may still walk are swept later.
  const isOldPage = (where: string) => where.startsWith('public/api/v1/markets/pages/');
  for (const text of [NAME, salt]) expect((await holders(text)).filter((where) => !isOldPage(where))).toEqual([]);
  expect((await standings()).map((entry) => 'representedBy' in entry && entry.representedBy)).toEqual([
    { digest },
    null,
  ]);
  expect((await readTexts(objects)).join('\n')).not.toContain(NAME);
});

function unpacked(value: unknown): string {
  const { entries } = Object(value) as { readonly entries?: string };
  return entries === undefined ? JSON.stringify(value) : plain(Buffer.from(entries, 'base64'));
}

function plain(body: Buffer): string {
  for (const decompress of [gunzipSync, zstdDecompressSync]) {
    try {
      return decompress(body).toString('utf8');
    } catch {
      // It is not compressed so.
    }
  }
  return body.toString('utf8');
}
