/** The published folder behind a web server that knows nothing of Tidemark: Python's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Tidemark } from '../../clients/typescript/tidemark.ts';
import { PROJECTIONS } from '../../contract/files/projections.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { tidemark } from '../cli/tidemark.ts';
import { collected } from '../clients/typescript/served-world.ts';
import { withLog } from '../publisher/log/test-log.ts';
import { removeMarket } from '../publisher/remove-market.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

/** A second page of the list, and one of a history. */
const SLUGS = Array.from({ length: 102 }, (_, index) => `m-${String(index).padStart(3, '0')}`);
const OBSERVATIONS = 70;

let temporary: Awaited<ReturnType<typeof makeTemporaryFolder>>;
let files: string;
let server: ChildProcess;
let url: string;

beforeAll(async () => {
  temporary = await makeTemporaryFolder();
  const world = createWorld(DEFAULT_PAGE_SIZES);
  const objects = await openDirectoryObjects(join(temporary.folder, 'data'));
  const dependencies = {
    ...withLog(dependenciesOn(world.ledger, objects, world.clock, DEFAULT_PAGE_SIZES)),
    projections: new Set(PROJECTIONS),
  };
  const rows = Array.from({ length: OBSERVATIONS }, (_, day) => price('m-001', day, 1000 + day));
  await world.ingest([...SLUGS.map((slug) => market(slug)), ...rows]);
  await publish(dependencies);
  await removeMarket({ ...world, dependencies }, 'm-050', 'm-051');
  while ((await publish(dependencies)).isMoreDue);
  files = join(temporary.folder, 'data/public');
  // It serves the folder above, so that the service lies below a prefix.
  const words = ['-u', '-m', 'http.server', '0', '--bind', '127.0.0.1', '--directory', join(files, '..')];
  server = spawn('python3', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const port = /port (\d+)/.exec(line)?.[1];
    url = `http://127.0.0.1:${port}/public`;
    break;
  }
});

afterAll(async () => {
  server.kill();
  await temporary.remove();
});

test('the client walks the list and a history, and knows what is missing', async () => {
  const client = new Tidemark({ url, patienceMs: 0 });
  const slugs = (await collected(client.markets())).map(({ slug }) => slug);
  expect(slugs).toEqual(SLUGS.filter((slug) => slug !== 'm-050'));
  expect(await collected(client.history('m-001'))).toHaveLength(OBSERVATIONS);
  expect(await collected(client.history('m-001', { to: '2026-01-02' }))).toHaveLength(2);
  expect(await collected(client.changes())).toHaveLength(await client.logSize());
  await expect(client.market('none')).rejects.toMatchObject({ code: 'not-found' });
});

describe('verify --static', () => {
  const verify = async () => await tidemark(['verify', '--static', url, '--removed', 'm-050', '--json', '--quiet']);

  test('finds nothing in a sound folder', async () => {
    const { code, output, errors } = await verify();
    expect([JSON.parse(output).findings, code, errors]).toEqual([[], 0, '']);
  });

  test('finds files that were altered, and one that is gone', async () => {
    const names = (await readdir(files, { recursive: true })).filter((name) => name.endsWith('.json'));
    const pages = names.filter((name) => /\/pages\/|-pages\//.test(name));
    const altered = ['api/v1/markets/m-001.json', ...pages].map((name) => join(files, name));
    expect(altered.length).toBeGreaterThan(2);
    for (const file of altered) await writeFile(file, (await readFile(file, 'utf8')).replace('10.05', '10.06'));
    const { code, output } = await verify();
    const { findings } = JSON.parse(output) as { readonly findings: readonly { readonly url: string }[] };
    const urls = findings.map((finding) => finding.url).join(' ');
    expect([code, urls]).toEqual([1, expect.stringMatching(/m-001/)]);
  });
});
