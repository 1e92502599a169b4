/** A second region goes on: two tables with a copy between them that lags, item by item, and a copy of the public files. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { PUBLIC_PREFIX } from '../../contract/files/public-objects.ts';
import { publish } from '../../publisher/publish.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { claimFormat } from '../../storage/ports/format.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { logChunkKey } from '../../storage/records/log.ts';
import { patternOf } from '../docs/transcripts.ts';
import { TEST_LOG, testLogOf, withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { createWorld, dependenciesOn, market, price, SMALL_PAGES } from '../publisher/world.ts';
import { Random } from '../simulator/random.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { engineConfig, openEngineTable } from './dynamodb-table.ts';
import { engineEndpoint } from './engine-endpoint.ts';
import { putBack, type Rows, readRows } from './restored-table.ts';
import { makeBucket } from './s3-bucket.ts';

const SCRIPT = join(import.meta.dirname, '../../tools/run/promote.ts');
const OTHER_LOG = 'tidemark.test/log/2';
const SLUGS = ['a', 'b', 'c', 'd'];

/** The lines of the transcript in a section of the runbook. */
function shownIn(section: string): readonly string[] {
  const [, text = ''] = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8').split(
    `## ${section}\n`,
  );
  const [, block = ''] = /```text\n([\s\S]*?)```/.exec(text) ?? [];
  return block
    .trim()
    .split('\n')
    .map((line) => line.trim());
}

/** Each row as one of the later moments has it, or as the first one: rows arrive in any order. */
function lagging(moments: readonly Rows[], random: Random): Rows {
  const rows = new Map<string, Rows extends ReadonlyMap<string, infer Row> ? Row : never>();
  for (const name of new Set(moments.flatMap((moment) => [...moment.keys()]))) {
    const row = random.pick(moments).get(name);
    if (row !== undefined) rows.set(name, row);
  }
  return rows;
}

async function copyObjects(from: ObjectStore, to: ObjectStore): Promise<void> {
  const { keys } = await from.list(`${PUBLIC_PREFIX}/`);
  for (const key of keys) {
    const found = await from.get(key);
    if (found.kind === 'found') await to.put(key, found.body, found.metadata, { kind: 'absent' });
  }
}

describe('node tools/run/promote.ts', () => {
  const endpoint = engineEndpoint('moto');

  const run = (...words: readonly string[]) =>
    promisify(execFile)(process.execPath, [SCRIPT, ...words, '--endpoint', endpoint], {
      env: { PATH: process.env.PATH, AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'engine', AWS_SECRET_ACCESS_KEY: 's' },
    });

  /** The first region, and what of its last four moments has arrived in the second one. */
  async function twoRegions(seed: number) {
    const [first, second] = [await openEngineTable(endpoint), await openEngineTable(endpoint)];
    const [objects, copy] = [await makeBucket(endpoint), await makeBucket(endpoint)];
    const client = createDynamoDbClient(engineConfig(endpoint));
    const world = createWorld(SMALL_PAGES, first.ledgers[0]);
    const dependencies = withLog(dependenciesOn(first.ledgers[0], objects.objects, world.clock));
    await claimFormat(world.dependencies);
    await world.ingest([...SLUGS.map((slug) => market(slug)), ...SLUGS.map((slug) => price(slug, 0, 1))]);
    await publish(dependencies);
    await copyObjects(objects.objects, copy.objects);
    const moments: Rows[] = [];
    const note = async () => moments.push(await readRows(client, first.tableName));
    await note();
    await world.ingest([price('a', 1, 2), price('b', 1, 3)]);
    await note();
    await world.ingest([price('a', 0, 9)], 'correct');
    await note();
    await publish(dependencies);
    await note();
    const { body } = await loggedReader(objects.objects)('/api/v1/log/checkpoint');
    const seen = join(await temporaryFolder(), 'checkpoint');
    await writeFile(seen, body);
    const place = ['--table', second.tableName, '--bucket', copy.bucket];
    return {
      ...{ place, seen, moments, rows: lagging(moments, new Random(seed)) },
      arrive: (rows: Rows) => putBack(client, second.tableName, rows),
      dependencies: dependenciesOn(second.ledgers[0], copy.objects, world.clock),
      close: () => Promise.all([first.close(), second.close()]),
    };
  }

  test('what has arrived becomes public in place; a log whose entries are all there goes on', async ({ annotate }) => {
    const { place, seen, moments, rows, arrive, dependencies, close } = await twoRegions(7);
    const log = (name: string) => /^(head|log\/|publication)/.test(name);
    // The last generation has arrived, and of the writes before it only a part.
    const newest = [...(moments.at(-1) as Rows)].filter(([name]) => log(name));
    const arrived: Rows = new Map([...[...rows].filter(([name]) => !log(name)), ...newest]);
    await arrive(arrived);
    const written = [...(moments.at(-1) as Rows)];
    const lost = written.filter(([name, row]) => arrived.get(name)?.attemptId?.S !== row.attemptId?.S);
    expect(lost.length).toBeGreaterThan(0);
    const startedMs = performance.now();
    const { stdout } = await run(...place, '--seen', seen);
    const [repaired = '', ...rest] = shownIn('A region is lost').map(patternOf);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toEqual([
      ...lines.slice(0, -2).map(() => expect.stringMatching(repaired)),
      ...rest.map((line) => expect.stringMatching(line)),
    ]);
    expect(lines.length).toBeGreaterThan(2);
    while ((await publish(withLog(dependencies))).isMoreDue);
    const publicAgainMs = Math.round(performance.now() - startedMs);
    await annotate(
      `recovery point: ${lost.length} of ${written.length} items had not arrived; recovery time: ${publicAgainMs} ms from the command`,
    );
    const report = await verify(loggedReader(dependencies.objects), { pageSizes: SMALL_PAGES, settled: true });
    expect(report).toMatchObject({ findings: [], markets: SLUGS.length });
    await expectLog(dependencies.objects, TEST_LOG, seen);
    await close();
  });

  test('a log whose entries are lost is refused, and begins anew under another name that says so', async () => {
    const { place, seen, moments, arrive, dependencies, close } = await twoRegions(8);
    const newest = moments.at(-1) as Rows;
    const { partition, sort } = logChunkKey(0, 0);
    const lost = new Map(newest);
    lost.set(`${partition} ${sort}`, moments[0]?.get(`${partition} ${sort}`) as never);
    await arrive(lost);
    await expect(run(...place)).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('were signed') });
    const { stdout } = await run(...place, '--seen', seen, '--new-log', OTHER_LOG);
    expect(stdout).toContain(`${OTHER_LOG} begins.`);
    await expect(publish(withLog(dependencies))).rejects.toMatchObject({ name: 'LogForked' });
    while ((await publish(withLog(dependencies, testLogOf(OTHER_LOG)))).isMoreDue);
    const report = await verify(loggedReader(dependencies.objects), { pageSizes: SMALL_PAGES, settled: true });
    // All writes had arrived: four prices, two more, and a correction.
    expect(report).toMatchObject({ findings: [], markets: SLUGS.length, observations: 7 });
    await expectLog(dependencies.objects, testLogOf(OTHER_LOG), null);
    await close();
  });

  async function expectLog(objects: ObjectStore, { signers }: typeof TEST_LOG, seenFile: string | null): Promise<void> {
    const vkeys = signers.map(({ vkey }) => vkey);
    const seen = seenFile === null ? null : await readFile(seenFile, 'utf8');
    const report = await verifyLog(loggedReader(objects, ...vkeys), { vkeys, seen, pageSizes: SMALL_PAGES });
    expect(report.findings).toEqual([]);
  }
});
