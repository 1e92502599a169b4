/** The scenario that every deployment must pass, on what `npm start` starts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { tidemark } from '../cli/tidemark.ts';
import { STEPS } from '../scenario/scenario.ts';
import { openSession, type Session } from '../scenario/session.ts';
import { publicFiles } from '../server/public-files.ts';
import { sampleServerForAll } from '../server/sample-server.ts';
import { startServer } from '../server/server-process.ts';

const server = sampleServerForAll();
let session: Session;

beforeAll(() => {
  const { url, key: operatorKey } = server;
  session = openSession({ readBaseUrl: url, writeBaseUrl: url, operatorKey });
});

describe('in embedded mode', () => {
  let failed: string | null = null;

  for (const { says, run } of STEPS) {
    test(says, async () => {
      if (failed !== null) throw new Error(`not run, because this has failed: ${failed}`);
      failed = says;
      await run(session);
      failed = null;
    });
  }

  test('`verify` finds nothing at the end', async () => {
    // Until then the cache may hold bodies of two generations.
    await setTimeout(FRESH_SECONDS * 1000);
    const { findings } = await verify(httpReader(server.url), { settled: true });
    expect(findings).toEqual([]);
  });

  test('nothing went wrong in the background', async () => {
    expect(await server.process.end('SIGINT')).toBe(0);
    expect(server.process.errors()).toBe('');
  });

  test('a ledger that is begun from its log publishes the same bytes, and goes on with the log', async () => {
    const { data } = server;
    const before = await publicFiles(data);
    const words = ['restore', '--from-log', join(data, 'public'), '--data', data, '--replace', '--json'];
    const { code, output } = await tidemark(words);
    expect([code, JSON.parse(output)]).toMatchObject([0, { lostNames: [] }]);
    const { generation } = await snapshotOf(data);
    server.process = startServer({ TIDEMARK_DATA: data });
    await server.process.started;
    while ((await snapshotOf(data)).generation === generation) await setTimeout(100);
    expect(await server.process.end('SIGINT')).toBe(0);
    const after = await publicFiles(data);
    // Made once a day, with the generation of that moment.
    const isDaily = (path: string) => /^\/api\/v1\/(exports|compat)\//.test(path);
    const differing = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => !isDaily(path) && before.get(path) !== after.get(path),
    );
    expect(differing).toEqual([]);
  });
});

async function snapshotOf(folder: string): Promise<{ readonly generation: number }> {
  return JSON.parse(await readFile(join(folder, 'public/api/v1/snapshot.json'), 'utf8'));
}
