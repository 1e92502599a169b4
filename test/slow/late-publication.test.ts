/** A running service whose publication fails for minutes: afterwards it says so to its readers. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PublicIncidents } from '../../contract/bodies/incidents.ts';
import { market, price } from '../publisher/world.ts';
import { startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const LATER_MS = 10 * 60_000;
/** Sets the clock of a process. */
const LATER = `data:text/javascript,const Now=Date;globalThis.Date=class extends Now{constructor(...a){a.length?super(...a):super(Now.now()+${LATER_MS})}static now(){return Now.now()+${LATER_MS}}}`;

test('changes that waited are an incident of the next generation, from the first write to its end', async () => {
  const folder = join(await temporaryFolder(), 'data');
  const settings = { TIDEMARK_DATA: folder, TIDEMARK_SAMPLE: 'no', TIDEMARK_PROJECTIONS: 'feeds' };
  const server = startServerForTest(settings);
  const baseUrl = await server.started;
  const call = async (path: string, records?: readonly object[]) => {
    const response = await fetch(baseUrl + path, {
      method: records === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${(await readFile(join(folder, 'operator-key'), 'utf8')).trim()}`,
        'idempotency-key': crypto.randomUUID(),
        'content-type': 'application/json',
      },
      ...(records && { body: JSON.stringify({ records }) }),
    });
    return (await response.json()) as { readonly id: string; readonly state: string; readonly data?: object };
  };
  const incidentsOf = async (url: string) =>
    (await (await fetch(`${url}/api/v1/incidents.json`)).json()) as Partial<PublicIncidents>;
  await call('/api/v1/ingest/batches', [market('gold'), price('gold', 0, 100)]);
  await expect.poll(async () => (await fetch(`${baseUrl}/api/v1/markets/gold`)).status).toBe(200);
  await expect.poll(async () => await incidentsOf(baseUrl)).toMatchObject({ data: [] });

  // A generation begins with its bundle.
  const bundles = join(folder, 'store', 'objects', 'redo');
  await rm(bundles, { recursive: true, force: true });
  await writeFile(bundles, '');
  const beforeMs = Date.now();
  const { id } = await call('/api/v1/ingest/batches', [price('gold', 1, 200)]);
  await expect.poll(async () => (await call(`/api/v1/ingest/batches/${id}`)).state).toBe('applied');
  const afterMs = Date.now();
  expect(await server.end('SIGTERM')).toBe(0);
  await rm(bundles);

  const next = startServerForTest({ ...settings, NODE_OPTIONS: `--import="${LATER}"` });
  const nextUrl = await next.started;
  await expect.poll(async () => (await incidentsOf(nextUrl)).data).toHaveLength(1);
  const [incident] = (await incidentsOf(nextUrl)).data as PublicIncidents['data'];
  expect(incident).toMatchObject({ kind: 'publication-late', markets: 1 });
  const [startedMs, endedMs] = [incident?.startedAt, incident?.endedAt].map((instant) => Date.parse(instant as string));
  expect(startedMs).toBeGreaterThanOrEqual(beforeMs);
  expect(startedMs).toBeLessThanOrEqual(afterMs);
  expect(endedMs).toBeGreaterThanOrEqual(afterMs + LATER_MS);
  expect(await (await fetch(`${nextUrl}/feeds/incidents.atom`)).text()).toContain(incident?.summary);
});
