/** The scenario that every deployment must pass, on what `npm start` starts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { httpReader } from '../../publisher/verify/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { STEPS } from '../scenario/scenario.ts';
import { openSession, type Session } from '../scenario/session.ts';
import { type ServerProcess, startServer } from '../server/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let server: ServerProcess;
let baseUrl: string;
let session: Session;

beforeAll(async () => {
  temporary = await makeTemporaryFolder();
  server = startServer({ TIDEMARK_DATA: temporary.folder });
  baseUrl = await server.started;
  const operatorKey = (await readFile(join(temporary.folder, 'operator-key'), 'utf8')).trim();
  session = openSession({ readBaseUrl: baseUrl, writeBaseUrl: baseUrl, operatorKey });
});

afterAll(async () => {
  await server.end('SIGKILL');
  await temporary.remove();
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
    const { findings } = await verify(httpReader(baseUrl), { settled: true });
    expect(findings).toEqual([]);
  });

  test('nothing went wrong in the background', async () => {
    expect(await server.end('SIGINT')).toBe(0);
    expect(server.errors()).toBe('');
  });
});
