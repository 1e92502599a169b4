/** The log says what the service publishes, once for each change, so that nobody can leave a kind of files out. */
import { expect, test } from 'vitest';
import { ALL_PROJECTIONS, PROJECTIONS, type Projection } from '../../../contract/files/projections.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { publish } from '../../../publisher/publish.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import { putItem } from '../../storage/put-item.ts';
import { refresh } from '../refresh.ts';
import { createWorld, market, price, type World } from '../world.ts';
import { readTexts, withLog } from './test-log.ts';

const statement = (projections: readonly Projection[], listSeconds = 64) => {
  return { format: 2, type: 'service', projections, listSeconds };
};

async function statements(world: World): Promise<readonly object[]> {
  return (await readTexts(world.objects)).map(parseEntry).filter(({ type }) => type === 'service');
}

async function worldOf(projections: ReadonlySet<Projection>) {
  const plain = createWorld();
  const world = plain.with({ ...withLog(plain.dependencies), projections });
  await world.ingest([market('a'), price('a', 0, 1)]);
  await world.publish();
  return world;
}

test('once, in the generation that begins the log, after the markets', async () => {
  const world = await worldOf(ALL_PROJECTIONS);
  const texts = await readTexts(world.objects);
  expect(texts).toHaveLength(3);
  expect(parseEntry(texts[2] as string)).toEqual(statement(PROJECTIONS));
  expect((await world.publish()).kind).toBe('unchanged');
  await world.ingest([price('a', 1, 2)]);
  await world.publish();
  expect(await statements(world)).toHaveLength(1);
});

test('again when a kind is switched on or off, once its files are complete', async () => {
  const world = await worldOf(new Set(['log', 'latest']));
  const switched = async (...projections: readonly Projection[]) => {
    const dependencies = { ...world.dependencies, projections: new Set(projections) };
    // It is rendered otherwise, so all markets are marked first.
    const { length } = await statements(world);
    await world.ingest([market(`new-${length}`)]);
    await publish(dependencies);
    expect(await statements(world)).toHaveLength(length);
    await refresh(world, ['a']);
    while ((await publish(dependencies)).isMoreDue);
  };
  await switched('log');
  await switched('recent', 'log');
  const expected = [['log', 'latest'], ['log'], ['log', 'recent']] as const;
  expect(await statements(world)).toEqual(expected.map((names) => statement(names)));
});

test('again when the list gets another cadence, by powers of two', async () => {
  const world = await worldOf(new Set(['log']));
  for (const [index, seconds] of [0, 60, 65, 100, 4000].entries()) {
    await world.ingest([price('a', 1 + index, 2)]);
    await publish({ ...world.dependencies, listEverySeconds: () => seconds });
  }
  expect(await statements(world)).toEqual([64, 128, 4096].map((seconds) => statement(['log'], seconds)));
});

test('a log from before it is completed by the next run, which has nothing else to do', async () => {
  const world = await worldOf(new Set(['log']));
  const head = await world.ledger.get(HEAD_KEY);
  if (head?.value.log === undefined) throw new Error('there is no log');
  const { service, ...log } = head.value.log;
  expect(service).toMatch(/^[0-9a-f]{12}$/);
  await putItem(world.ledger, HEAD_KEY, { ...head.value, log }, head.revision);
  await world.publish();
  expect(await statements(world)).toHaveLength(2);
  expect((await world.publish()).kind).toBe('unchanged');
});
