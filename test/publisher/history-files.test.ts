/** Histories as files: their bytes, what a change puts, and what is left when they are switched off. */
import { describe, expect, test } from 'vitest';
import { PROBLEM_CONTENT_TYPE } from '../../contract/edge-problems.ts';
import { HISTORY_COLUMNS } from '../../contract/history-files.ts';
import { HISTORY_FILE_KINDS, parsePublicKey } from '../../contract/public-objects.ts';
import type { PublisherDependencies } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { createWorld, market, price, readerOf, type World } from './world.ts';

const FILES: PublisherDependencies['projections'] = new Set(['history-files']);

interface FilesWorld extends World {
  readonly publish: () => Promise<unknown>;
  readonly read: (path: string) => Promise<{ status: number; type: string | undefined; text: string }>;
  /** The paths of files that a publish puts. */
  readonly puts: () => Promise<readonly string[]>;
}

function createFilesWorld(): FilesWorld {
  const world = createWorld();
  const dependencies = { ...world.dependencies, projections: FILES };
  const run = () => publish(dependencies);
  return {
    ...world,
    dependencies,
    publish: run,
    read: async (path) => {
      const { status, headers, body } = await readerOf(world.objects)(`/api/v1/markets/${path}`);
      return { status, type: headers.get('content-type'), text: Buffer.from(body).toString() };
    },
    puts: async () => {
      world.objects.resetCounts();
      await run();
      const keys = world.objects.puts.map(({ key }) => key);
      const isFile = (key: string) =>
        (HISTORY_FILE_KINDS as readonly (string | undefined)[]).includes(parsePublicKey(key)?.kind);
      return keys
        .filter(isFile)
        .map((key) => key.slice('public/api/v1/markets/'.length))
        .sort();
    },
  };
}

/** Days of 2025 (0 is the first), then of 2026. */
const old = (slug: string, day: number, amount: number) => price(slug, day - 365, amount);

async function worldOfTwoYears(): Promise<FilesWorld> {
  const world = createFilesWorld();
  await world.ingest([market('a'), market('b')]);
  await world.ingest([...Array(6).keys()].map((day) => old('a', day, 100 + day)));
  await world.ingest([...Array(5).keys()].map((day) => price('a', day, 200 + day)));
  await world.publish();
  return world;
}

describe('files', () => {
  test('x', async () => {
    const world = await worldOfTwoYears();
    for (const path of [
      'a/history.csv',
      'a/history.ndjson',
      'a/history/2025.csv',
      'a/history/2026.ndjson',
      'a/history/index',
      'b/history/index',
      'b/history.csv',
    ])
      console.log(path, await world.read(path));
    await world.ingest([price('a', 5, 300)]);
    console.log(await world.puts());
    await world.ingest([price('a', 6, 300)]);
    console.log(await world.puts());
    expect(HISTORY_COLUMNS.length + PROBLEM_CONTENT_TYPE.length).toBe(1);
  });
});
