/** The log that publishing writes: its entries, their order, and that it only grows. */
import { hash } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import type { LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import type { NoteSigner } from '../../../contract/log/notes.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { logChunksOf } from '../../../storage/records/log.ts';
import { publishedHeadsKey } from '../../../storage/records/publication.ts';
import { removeMarket } from '../remove-market.ts';
import { setStanding } from '../standing.ts';
import { takeDown } from '../take-down.ts';
import { createWorld, market, price, SMALL_PAGES, type World } from '../world.ts';
import { faultsOfLog } from './log-oracle.ts';
import { brief, LOG_ORIGIN, readCheckpoint, readLog, readTexts, testSigner, withLog } from './test-log.ts';

function loggedWorld(): World {
  const world = createWorld();
  return world.with(withLog(world.dependencies));
}

const source = (label: string) => {
  return { label, url: `https://example.com/${label}`, publisher: null, licence: null, attribution: null };
};

/** The entries that one more generation adds, in short. */
async function added(world: World): Promise<readonly string[]> {
  const before = await readTexts(world.objects);
  await world.publish();
  const after = await readTexts(world.objects);
  expect(after.slice(0, before.length)).toEqual(before);
  expect(await faultsOfLog(world.objects)).toEqual([]);
  return (await readLog(world.objects, 1, before.length)).map(brief);
}

test('a log without entries has a checkpoint from the first generation on', async () => {
  const world = loggedWorld();
  await world.publish();
  expect(await readLog(world.objects)).toEqual([]);
  // It says what is published.
  expect((await readCheckpoint(world.objects))?.size).toBe(1);
  expect((await world.publish()).kind).toBe('unchanged');
});

describe('the entries of a generation', () => {
  test('are those of each market in order: definition, sources, observations in the order of the history', async () => {
    const world = loggedWorld();
    const definition = { ...market('b'), sources: [source('one'), source('two')] } as IngestRecordInput;
    await world.ingest([definition, market('a'), price('b', 3, 5), price('b', 1, 7), price('a', 0, 1)]);
    await world.publish();
    const entries = await readLog(world.objects);
    expect(entries.map(brief)).toEqual([
      'market a 1',
      'observation a 1 2026-01-01',
      'market b 2',
      'source b 2',
      'source b 2',
      'observation b 2 2026-01-02',
      'observation b 2 2026-01-04',
    ]);
    expect(entries[2]).toMatchObject({ sourceCount: 2, name: 'Market b', updatedAt: '2026-10-01T12:00:00.000Z' });
    expect(entries[4]).toMatchObject({ position: 1, label: 'two', cadence: null, verification: null });
    expect(entries[5]).toMatchObject({ kind: 'money', amountMinor: 7, minorDigits: 2, supersedes: null });
    for (const name of ['supersededAt', 'supersededBy', 'firstRevision', 'decimal']) {
      expect(entries[5]).not.toHaveProperty(name);
    }
  });

  const CASES: readonly { readonly what: string; happen: (world: World) => Promise<unknown>; entries: string[] }[] = [
    { what: 'known data', happen: (world) => world.ingest([market('a'), price('a', 0, 1)]), entries: [] },
    {
      what: 'a new observation',
      happen: (world) => world.ingest([price('a', 9, 2)]),
      entries: ['observation a 2 2026-01-10'],
    },
    {
      what: 'a late observation before closed pages',
      happen: (world) => world.ingest([price('b', -1, 2)]),
      entries: ['observation b 10 2025-12-31'],
    },
    {
      what: 'a correction, which states only the new version',
      happen: (world) => world.ingest([price('b', 0, 77)], 'correct'),
      entries: ['observation b 10 2026-01-01'],
    },
    {
      what: 'a correction of what no generation has published: both versions, each with its own revision',
      happen: async (world) => {
        await world.ingest([price('a', 9, 2)]);
        await world.ingest([price('a', 9, 3)], 'correct');
      },
      entries: ['observation a 2 2026-01-10', 'observation a 3 2026-01-10'],
    },
    {
      what: 'one more source, which the definition counts',
      happen: (world) => world.ingest([{ ...market('a'), sources: [source('one')] } as IngestRecordInput]),
      entries: ['market a 2', 'source a 2'],
    },
    {
      what: 'a standing, after which the definition states the revision',
      happen: ({ ledger }) => setStanding(ledger, 'a', disputed('price'), 'claim-1'),
      entries: ['standing a 2', 'market a 2'],
    },
    {
      what: 'a standing and a later observation, which states the revision and the time',
      happen: async (world) => {
        await setStanding(world.ledger, 'a', disputed('price'), 'claim-1');
        world.clock.nowMs += 1000;
        await world.ingest([price('a', 9, 2)]);
      },
      entries: ['standing a 3', 'observation a 3 2026-01-10'],
    },
    {
      what: 'a removed market, and what was not published before is never stated',
      happen: async (world) => {
        await world.ingest([price('b', 9, 2)]);
        await removeMarket(world, 'b');
        await world.ingest([price('a', 9, 2)]);
      },
      entries: ['observation a 2 2026-01-10', 'removal b 11'],
    },
  ];

  test.each(CASES)('after $what', async ({ happen, entries }) => {
    const world = loggedWorld();
    await world.ingest([market('a'), market('b'), price('a', 0, 1)]);
    await world.ingest(Array.from({ length: 9 }, (_, day) => price('b', day, day + 1)));
    await world.publish();
    await happen(world);
    expect(await added(world)).toEqual(entries);
    expect(await added(world)).toEqual([]);
  });
});

function disputed(metric: string) {
  return { representedBy: null, disputes: { [metric]: 'claim-1' }, comparisons: {}, verifications: {} };
}

test('a log of several tiles is as if it had been written at once', async () => {
  const world = loggedWorld();
  await world.ingest([market('a')]);
  let day = 0;
  for (const count of [100, 155, 1, 300, 212]) {
    await world.ingest(Array.from({ length: count }, (_, index) => price('a', --day, index + 1)));
    await world.publish();
  }
  expect(await readLog(world.objects)).toHaveLength(769);
  // The snapshot names the log, and the published record of a market its revision in it.
  const { size, root } = (await readCheckpoint(world.objects)) as LogCheckpoint;
  expect(await world.json('/api/v1/snapshot')).toMatchObject({ log: { size, root: root.toString('base64') } });
  expect((await world.ledger.get(publishedHeadsKey('a')))?.value.logged).toBe(768);
});

describe('the keys', () => {
  const [one, two] = [testSigner(1), testSigner(2)];
  const keyed = async (signers: readonly NoteSigner[], announced: readonly string[] = []) => {
    const world = loggedWorld();
    await world.ingest([market('a'), price('a', 0, 1)]);
    const publishBy = (now: readonly NoteSigner[], toCome: readonly string[] = []) =>
      publish(withLog(world.dependencies, { origin: LOG_ORIGIN, signers: now, announced: toCome }));
    await publishBy(signers, announced);
    return { world, publishBy };
  };
  const keyEntry = { format: 1, type: 'key', vkey: two.vkey };

  test('that sign are public, newest first; a new one is named by an entry in a checkpoint that the old one signs too', async () => {
    const { world, publishBy } = await keyed([one]);
    expect(await world.text('/api/v1/log/vkey')).toBe(`${one.vkey}\n`);
    await publishBy([two, one]);
    expect((await readLog(world.objects, 1)).at(-1)).toEqual(keyEntry);
    const { length } = await readLog(world.objects, 2);
    expect(await world.text('/api/v1/log/vkey')).toBe(`${two.vkey}\n${one.vkey}\n`);
    expect((await publishBy([two, one])).kind).toBe('unchanged');
    // When the old key ends, the same tree is signed by the new one alone.
    await publishBy([two]);
    expect(await world.text('/api/v1/log/vkey')).toBe(`${two.vkey}\n`);
    expect(await readLog(world.objects, 2)).toHaveLength(length);
    await expect(readCheckpoint(world.objects, 1)).rejects.toThrow(LogFaultError);
  });

  test('that will sign elsewhere are announced: after the move, followers of the old key go on', async () => {
    const { world, publishBy } = await keyed([one]);
    await publishBy([one], [two.vkey]);
    expect((await readLog(world.objects, 1)).at(-1)).toEqual(keyEntry);
    expect((await publishBy([one], [two.vkey])).kind).toBe('unchanged');
    // It does not sign yet.
    expect(await world.text('/api/v1/log/vkey')).toBe(`${one.vkey}\n`);
    const followed = await verifyLog(world.read, { vkeys: [one.vkey], seen: null, pageSizes: SMALL_PAGES });
    expect(followed).toMatchObject({ findings: [], vkeys: [one.vkey, two.vkey] });
    // Moved: the ledger has the announcement, and only the other key signs.
    await world.ingest([price('a', 1, 2)]);
    await publishBy([two]);
    expect((await readLog(world.objects, 2)).filter(({ type }) => type === 'key')).toHaveLength(1);
    const { vkeys, checkpoint: seen } = followed;
    expect((await verifyLog(world.read, { vkeys, seen, pageSizes: SMALL_PAGES })).findings).toEqual([]);
  });

  test('are announced also by a log that begins', async () => {
    const { world } = await keyed([one], [two.vkey]);
    expect(await readLog(world.objects, 1)).toContainEqual(keyEntry);
  });
});

/** Text that nothing compresses. */
const noise = (seed: string, length: number): string => {
  let text = '';
  while (text.length < length) text += hash('sha512', `${seed} ${text.length}`, 'base64url');
  return text.slice(0, length);
};

test('the largest entries that the rules allow are published, and a takedown leaves no text of them', async () => {
  const world = loggedWorld();
  for (let version = 0; version < 24; version++) {
    const attributes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => {
      const text = noise(`${version} ${name}`, 2_000);
      const sourceUrl = `https://example.com/NOISE/${text}`;
      const value = { value: text.slice(0, 200), sourceLabel: text.slice(200, 400), sourceUrl };
      return [name, { ...value, observedAt: '2026-01-01T00:00:00Z' }];
    });
    await world.ingest([{ ...market('a'), attributes: Object.fromEntries(attributes) } as IngestRecordInput]);
    await world.publish();
  }
  expect(await readTexts(world.objects)).toHaveLength(25);
  await removeMarket(world, 'a');
  await world.publish();
  await takeDown(world, 'a');
  await world.publishAll();
  await world.ingest([market('b')]);
  await world.publish();
  const report = await verifyLog(world.read, { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES });
  expect(report).toMatchObject({ findings: [], takenDown: 24 });
  const chunks = await readAll(world.ledger, logChunksOf(0));
  const texts = chunks.map(({ value: { entries } }) => zstdDecompressSync(Buffer.from(entries, 'base64')).toString());
  expect(texts.join('\n').split('\n')).toHaveLength(report.size);
  expect(texts.join('')).not.toContain('NOISE');
});
