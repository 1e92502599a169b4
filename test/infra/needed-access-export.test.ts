/** The role of the export is enough for all that an export asks of IAM. */
import { expect, it } from 'vitest';
import { makeCompat } from '../../publisher/projections/compat/make-compat.ts';
import { keepExport } from '../../publisher/projections/exports/keep-export.ts';
import { makeExport } from '../../publisher/projections/exports/make-export.ts';
import { remakeKept } from '../../publisher/projections/exports/remake-kept.ts';
import { publish } from '../../publisher/publish.ts';
import type { ObjectHead } from '../../storage/ports/object-store.ts';
import { compatWorld } from '../publisher/compat/compat-world.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY, keysOf } from '../publisher/exports/export-world.ts';
import { TEST_LOG } from '../publisher/log/test-log.ts';
import { removeMarket } from '../publisher/remove-market.ts';
import { takeDown } from '../publisher/take-down.ts';
import { market, price } from '../publisher/world.ts';
import { roleOf } from './access.ts';
import { type AccessCall, allows, recordAccess, recordObjectAccess } from './recorded-access.ts';

it('a first export, one after a correction, and one after a loss may be made, and one that is kept be made again', async () => {
  const world = exportWorld();
  const asked: AccessCall[] = [];
  const ledger = recordAccess(world.ledger, asked);
  const storage = { ...world.options.storage, ledger, objects: recordObjectAccess(world.objects, asked) };
  const nextExport = async () => {
    await publish(world.options.storage as never);
    world.clock.nowMs += DAY_MS;
    expect((await makeExport({ storage, partEntries: 256 })).kind).toBe('made');
  };
  await world.ingest([market('a'), ...days('a', 300)]);
  await nextExport();
  await world.ingest([price('a', FIRST_DAY, 7)], 'correct');
  await nextExport();
  for (const key of keysOf(world).filter((each) => each.endsWith('.parquet'))) {
    await world.objects.delete(key, ((await world.objects.stat(key)) as ObjectHead).etag);
  }
  await nextExport();
  const [date] = keysOf(world).flatMap((key) => /\/([\d-]{10})\/datapackage/.exec(key)?.[1] ?? []);
  expect(await keepExport(storage, date as string, { label: null })).toBe('done');
  for (const key of keysOf(world))
    await world.objects.delete(key, ((await world.objects.stat(key)) as ObjectHead).etag);
  world.clock.nowMs += DAY_MS;
  expect(await remakeKept({ storage, partEntries: 256 })).toEqual([date]);
  expect(asked).toContainEqual({ action: 'dynamodb:DeleteItem', partition: 'exports' });
  expect(asked.filter((call) => !allows(roleOf('export'), call))).toEqual([]);
});

it('files for other programs may be made, and made again after a removal and a takedown', async () => {
  const world = compatWorld(['compat'], TEST_LOG);
  const asked: AccessCall[] = [];
  const ledger = recordAccess(world.ledger, asked);
  const storage = { ...world.dependencies, ledger, objects: recordObjectAccess(world.objects, asked) };
  await world.ingest([market('a'), price('a', 0, 1), market('b'), price('b', 0, 1)]);
  await world.publish();
  expect((await makeCompat({ storage })).kind).toBe('made');
  await removeMarket(world, 'a');
  await world.publish();
  expect((await makeCompat({ storage })).kind).toBe('made');
  await takeDown(world, 'a');
  await world.publish();
  expect((await makeCompat({ storage })).kind).toBe('made');
  expect(asked).toContainEqual({ action: 'dynamodb:DeleteItem', partition: 'compat' });
  expect(asked).toContainEqual({ action: 'dynamodb:Query', partition: 'log/entries/0' });
  expect(asked.filter((call) => !allows(roleOf('export'), call))).toEqual([]);
});
