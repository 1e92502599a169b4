/** Ledgers of earlier formats, as those versions have written them, become ledgers of this one: wherever the migration is interrupted. */
import { beforeAll, describe, expect, test } from 'vitest';
import { mendedLinks, recountOf } from '../../../publisher/repair/recount.ts';
import { FormatTooNew, FormatTooOld } from '../../../storage/errors.ts';
import { checkFormat, claimFormat } from '../../../storage/format.ts';
import type { Item, Ledger } from '../../../storage/ledger.ts';
import { migrateLedger } from '../../../storage/migration/migrate-ledger.ts';
import { MigrationDisturbed } from '../../../storage/migration/migration.ts';
import { readAll } from '../../../storage/paging.ts';
import { checkpointKey, partBatchId, strandKey, WORK_QUEUE } from '../../../storage/records/batches.ts';
import { FORMAT_KEY, LEDGER_FORMAT } from '../../../storage/records/formats.ts';
import { MARKET_INDEX, marketKey, observationsOf } from '../../../storage/records/markets.ts';
import {
  GENERATIONS,
  HEAD_KEY,
  publishedHeadsKey,
  REFRESH_MARKS,
  SUPERSEDED_PAGES,
} from '../../../storage/records/publication.ts';
import { openSqliteLedger } from '../../../storage/sqlite-ledger.ts';
import { type OldDataFolder, readOldLedger } from '../../fixtures/data-folder.ts';
import { openRecordedLedger, type RecordedLedger } from '../../ingest/recorded-ledger.ts';
import { diesAfter, faultyStorage, ProcessDied } from '../../publisher/faulty-storage.ts';
import { openMemoryObjects } from '../memory-objects.ts';

const UPLOAD = 'upl_01KB0000000000000000000005';
const HALF = 'bat_01KB0000000000000000000002';
const BEHIND = 'bat_01KB0000000000000000000003';

let attempts = 0;
const migrationOf = (ledger: Ledger) => ({
  ledger,
  nowMs: () => 0,
  newAttemptId: () => `migration-${++attempts}`,
  renderer: 'as now',
});

/** The records of the old version. */
const written = new Map<OldDataFolder, Awaited<ReturnType<typeof readOldLedger>>>();

beforeAll(async () => {
  for (const name of ['applied', 'committed', 'standing'] as const) written.set(name, await readOldLedger(name));
});

/** A copy of it in memory. */
async function opened(name: OldDataFolder): Promise<RecordedLedger> {
  const ledger = openRecordedLedger();
  for (const changes of written.get(name) ?? []) await ledger.transact(changes, { attemptId: `copy-${++attempts}` });
  return ledger;
}

describe('after the migration', () => {
  test('every market has the sum of its history, and waits to be rendered again', async () => {
    const ledger = await opened('applied');
    expect(await migrateLedger(migrationOf(ledger))).toBe('migrated');
    const slugs = (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
    expect(slugs).toHaveLength(106);
    expect((await readAll(ledger, REFRESH_MARKS)).map(({ sort }) => sort)).toEqual(
      slugs.map((slug) => `refresh/${slug}`),
    );
    for (const slug of slugs) {
      const observations = await readAll(ledger, observationsOf(slug));
      const record = await ledger.get(marketKey(slug));
      expect(record?.value).toEqual({ ...record?.value, ...recountOf(observations) });
      expect(mendedLinks(observations)).toEqual([]);
      const heads = await ledger.get(publishedHeadsKey(slug));
      if (heads !== null) expect(heads.value).toMatchObject({ revision: 0, joined: 0 });
    }
  });

  test('HEAD counts the published state, and marks the list as unknown', async () => {
    const ledger = await opened('applied');
    await migrateLedger(migrationOf(ledger));
    expect(await ledger.get(HEAD_KEY)).toMatchObject({
      revision: 4,
      value: {
        generation: 4,
        applied: true,
        renderer: 'as now',
        list: { generation: 4, shows: 4, markets: 105, layout: null, isDoubtful: true },
        counts: { markets: 105 },
      },
    });
    expect((await readAll(ledger, GENERATIONS)).map(({ value }) => [value.generation, value.layout])).toEqual(
      [1, 2, 3, 4].map((generation) => [generation, null]),
    );
    expect((await readAll(ledger, SUPERSEDED_PAGES)).length).toBeGreaterThan(1);
    expect((await ledger.get(FORMAT_KEY))?.value).toEqual({ format: LEDGER_FORMAT });
  });

  test('nothing is left at places that only format 1 had', async () => {
    for (const name of ['applied', 'committed'] as const) {
      const ledger = await opened(name);
      await migrateLedger(migrationOf(ledger));
      const left = [...(await ledger.dump()).keys()].filter((key) =>
        /^(unlinked|published\/list|republish)\b|^publication (head|republish)|^dirty everything/.test(key),
      );
      expect(left).toEqual([]);
    }
  });

  test('work is in lanes, and the checkpoint of a batch becomes its only strand', async () => {
    const ledger = await opened('applied');
    await migrateLedger(migrationOf(ledger));
    expect((await readAll(ledger, WORK_QUEUE)).map(({ sort, value }) => [sort, value.lane, value.lease])).toEqual([
      [HALF, 'operator', null],
      [BEHIND, 'operator', null],
      [UPLOAD, UPLOAD, null],
    ]);
    expect((await ledger.get(checkpointKey(HALF)))?.value).toMatchObject({
      setAside: [41, 222],
      strands: 1,
      refused: 2,
    });
    const { value } = (await ledger.get(strandKey(HALF, 0))) ?? {};
    expect(value).toMatchObject({ marketsDone: 1, rowsDone: 91, accepted: 132, refused: 0, faultParts: 0 });
    expect(Object.keys(value?.revisions ?? {})).toEqual(['basil', 'brent']);
    expect((await ledger.get(strandKey(partBatchId(UPLOAD, 1), 0)))?.value.accepted).toBeGreaterThan(0);
    expect(await ledger.get(strandKey(BEHIND, 0))).toBeNull();
  });

  test('there is nothing left to migrate', async () => {
    const ledger = await opened('applied');
    await migrateLedger(migrationOf(ledger));
    const before = await ledger.dump();
    expect(await migrateLedger(migrationOf(ledger))).toBe('current');
    await claimFormat(migrationOf(ledger));
    expect(await ledger.dump()).toEqual(before);
  });
});

describe('from format 2', () => {
  const migrated = async () => {
    const ledger = await opened('standing');
    const before = new Map<string, readonly Item[]>();
    for (const { sort } of await readAll(ledger, MARKET_INDEX))
      before.set(sort, await readAll(ledger, observationsOf(sort)));
    expect(await migrateLedger(migrationOf(ledger))).toBe('migrated');
    return { ledger, before };
  };

  test('a superseded observation gets the time of its next version; a release and a kind are not guessed', async () => {
    const { ledger, before } = await migrated();
    let superseded = 0;
    for (const [slug, items] of before) {
      const after = await readAll(ledger, observationsOf(slug));
      const byId = new Map(after.map(({ value }) => [value.id, value]));
      expect(after.map(({ value }) => value)).toEqual(
        items.map(({ value }) => {
          const old = value as { supersededBy: string | null };
          if (old.supersededBy !== null) superseded++;
          const next = old.supersededBy === null ? null : byId.get(old.supersededBy);
          return { ...old, releasedAt: null, retraction: null, supersededAt: next?.recordedAt ?? null };
        }),
      );
      expect(after.map(({ revision }) => revision)).toEqual(items.map(({ revision }) => revision));
      for (const { value } of after) expect(Object.keys(value)).toEqual(Object.keys(value).sort());
      expect(mendedLinks(after)).toEqual([]);
    }
    expect(superseded).toBe(7);
  });

  test('a record gets the newest value of each source, and the best known time of its last change', async () => {
    const { ledger } = await migrated();
    const found: { [slug: string]: unknown } = {};
    for (const { sort: slug } of await readAll(ledger, MARKET_INDEX)) {
      const record = await ledger.get(marketKey(slug));
      expect(record?.value).toEqual({ ...record?.value, ...recountOf(await readAll(ledger, observationsOf(slug))) });
      const { latest, updatedAt } = (record as NonNullable<typeof record>).value;
      const others = latest.price?.others?.map(({ metric }) => metric.sourceLabel) ?? [];
      found[slug] = [updatedAt, latest.price?.metric.sourceLabel, ...others];
    }
    // The last change of gold and tin is an observation, of silver a dispute, and of yen a verification.
    expect(found).toEqual({
      gold: ['2026-10-02T00:13:00.000Z', 'Desk', 'Exchange'],
      silver: ['2026-10-01T23:02:00.000Z', 'Exchange', 'Desk'],
      tin: ['2026-10-01T22:01:00.000Z', 'Desk'],
      yen: ['2026-10-01T23:12:00.000Z', 'Desk'],
    });
  });

  test('HEAD names the old renderer, so the next publication asks for every market', async () => {
    const { ledger } = await migrated();
    expect((await ledger.get(HEAD_KEY))?.value.renderer).toMatch(/^3\//);
    expect((await ledger.get(FORMAT_KEY))?.value).toEqual({ format: LEDGER_FORMAT });
    expect(await migrateLedger(migrationOf(ledger))).toBe('current');
  });
});

/** Of the markets that are all alike, it is enough to die after some. */
const KILLS: readonly [OldDataFolder, (write: number, writes: number) => boolean][] = [
  ['committed', (write) => write % 2 === 0],
  ['applied', (write, writes) => write % 97 === 0 || (write > writes - 28 && write % 3 === 0)],
  ['standing', () => true],
];

test.each(KILLS)(
  'a migration of %s that dies after any of its writes is ended by the next one',
  async (name, isDue) => {
    const migrated = await opened(name);
    const copies = migrated.transactions.length;
    await migrateLedger(migrationOf(migrated));
    const undisturbed = await migrated.dump();
    const total = migrated.transactions.length - copies;
    let died = 0;
    for (let at = 0, isAtItsEnd = false; !isAtItsEnd; at++) {
      if (!isDue(at, total)) continue;
      const ledger = await opened(name);
      let writes = -1;
      const dying = faultyStorage(ledger, openMemoryObjects(), 'all', async (operation) => {
        return await (operation.isWrite && ++writes === at ? diesAfter(operation) : operation.run());
      });
      await migrateLedger(migrationOf(dying.ledger)).then(
        () => {
          isAtItsEnd = true;
        },
        (error: unknown) => {
          if (!(error instanceof ProcessDied)) throw error;
          died++;
        },
      );
      await migrateLedger(migrationOf(ledger));
      expect(await ledger.dump()).toEqual(undisturbed);
    }
    expect(died).toBeGreaterThan(8);
  },
);

test('a migration without time continues with the next call, and reports its progress', async () => {
  const ledger = await opened('committed');
  let left = 3;
  const told: number[] = [];
  const migration = {
    ...migrationOf(ledger),
    hasTime: () => left-- > 0,
    progress: (markets: number) => void told.push(markets),
  };
  expect(await migrateLedger(migration)).toBe('unfinished');
  expect(told).toEqual([1, 2, 3]);
  expect(await ledger.get(FORMAT_KEY)).toBeNull();
  expect(await migrateLedger(migrationOf(ledger))).toBe('migrated');
});

test('another writer ends the migration, and nothing is lost', async () => {
  const ledger = await opened('committed');
  const tin = await ledger.get(marketKey('tin'));
  const disturbed = faultyStorage(ledger, openMemoryObjects(), 'all', async ({ what, run }) => {
    if (what.startsWith('ledger.transact') && what.includes('market/tin')) {
      const put = { kind: 'put', key: marketKey('tin'), revision: 77, if: { kind: 'any' } } as const;
      await ledger.transact([{ ...put, value: tin?.value as never }], { attemptId: 'a stranger' });
    }
    return await run();
  });
  await expect(migrateLedger(migrationOf(disturbed.ledger))).rejects.toThrow(MigrationDisturbed);
  expect((await ledger.get(marketKey('tin')))?.revision).toBe(77);
  expect(await migrateLedger(migrationOf(ledger))).toBe('migrated');
});

describe('a ledger', () => {
  test('that is empty is of the format of this version from its first use on', async () => {
    const ledger = openSqliteLedger(':memory:');
    expect(await checkFormat(ledger)).toBeNull();
    expect(await ledger.get(FORMAT_KEY)).toBeNull();
    await claimFormat(migrationOf(ledger));
    expect(await checkFormat(ledger)).toBe(LEDGER_FORMAT);
    expect(await migrateLedger(migrationOf(ledger))).toBe('current');
    const another = openSqliteLedger(':memory:');
    expect(await migrateLedger(migrationOf(another))).toBe('current');
    expect(await checkFormat(another)).toBe(LEDGER_FORMAT);
  });

  test('that two use for the first time at once is of one format', async () => {
    const ledger = openSqliteLedger(':memory:');
    const { ledger: overtaken } = faultyStorage(ledger, openMemoryObjects(), 'all', async ({ what, run }) => {
      if (what.startsWith('ledger.transact')) await claimFormat(migrationOf(ledger));
      return await run();
    });
    await claimFormat(migrationOf(overtaken));
    expect((await ledger.get(FORMAT_KEY))?.value).toEqual({ format: LEDGER_FORMAT });
  });

  test.each(['applied', 'committed', 'standing'] as const)(
    'of an earlier format is refused, and left as it is: %s',
    async (name) => {
      const ledger = await opened(name);
      const before = await ledger.dump();
      await expect(checkFormat(ledger)).rejects.toThrow(FormatTooOld);
      await expect(claimFormat(migrationOf(ledger))).rejects.toThrow(FormatTooOld);
      expect(await ledger.dump()).toEqual(before);
    },
  );

  test('of a later format is refused, and left as it is', async () => {
    const ledger = await opened('committed');
    const format = LEDGER_FORMAT + 1;
    const put = { kind: 'put', key: FORMAT_KEY, revision: format, value: { format }, if: { kind: 'any' } } as const;
    await ledger.transact([put], { attemptId: 'a later version' });
    const before = await ledger.dump();
    for (const use of [checkFormat(ledger), claimFormat(migrationOf(ledger)), migrateLedger(migrationOf(ledger))]) {
      await expect(use).rejects.toThrow(FormatTooNew);
    }
    expect(await ledger.dump()).toEqual(before);
  });
});
