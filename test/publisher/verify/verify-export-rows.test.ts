/** `verify --log` proves the newest export: a wrong row is found, although the manifest has the digest of its file. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { EXPORT_ROOT } from '../../../contract/files/routes.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { DAY_MS, days, exportWorld, FIRST_DAY } from '../exports/export-world.ts';
import { LATEST, type Package, readPackage } from '../exports/exported.ts';
import { testSigner } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { market, price, SMALL_PAGES, START_MS } from '../world.ts';
import { loggedReader } from './logged-reader.ts';

let reader: PublicReader;

/** Two parts, with corrections across them, an unknown value, a removed market, and entries after the export. */
beforeAll(async () => {
  const world = exportWorld();
  await world.ingest([market('a'), market('b'), market('gone'), ...days('a', 300), price('b', 1, null)]);
  await world.ingest(days('gone', 3));
  await publish(world.options.storage as never);
  await world.ingest([price('a', FIRST_DAY + 3, 5), price('a', FIRST_DAY + 290, 6)], 'correct');
  await removeMarket(world, 'gone');
  await world.nextDay();
  await world.ingest([market('later'), ...days('a', 2, 400)]);
  await world.ingest([price('a', FIRST_DAY + 4, 7)], 'correct');
  await removeMarket(world, 'b');
  while ((await publish(world.options.storage as never)).isMoreDue);
  reader = loggedReader(world.objects);
});

async function findingsOf(read: PublicReader, nowMs?: number) {
  const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES, partEntries: 256 };
  return (await verifyLog(read, { ...options, ...(nowMs && { nowMs }) })).findings;
}

/** The export with the lines of one file changed, and a manifest that has its size, digest and number of rows. */
async function planted(
  name: string,
  edit: (lines: string[]) => readonly string[],
  inManifest: (manifest: Package) => object = (manifest) => manifest,
): Promise<{ readonly url: string; readonly read: PublicReader }> {
  const manifest = await readPackage(reader);
  const resource = manifest.resources.find((each) => each.name === name);
  if (resource === undefined) throw new Error(`there is no ${name}`);
  const url = EXPORT_ROOT + resource.path;
  const lines = gunzipSync((await reader(url)).body)
    .toString('utf8')
    .split(/(?<=\n)/);
  const changed = edit(lines);
  const body = gzipSync(changed.join(''));
  const rows = resource.rows + changed.length - lines.length;
  const right = { ...resource, rows, bytes: body.length, hash: `sha256:${sha256Hex(body)}` };
  const resources = manifest.resources.map((each) => (each === resource ? right : each));
  const text = JSON.stringify(inManifest({ ...manifest, resources }));
  const read: PublicReader = async (asked, headers) => {
    const answer = await reader(asked, headers);
    if (asked === url) return { ...answer, body };
    return asked === LATEST ? { ...answer, body: Buffer.from(text) } : answer;
  };
  return { url, read };
}

const replace = (at: number, from: string | RegExp, to: string) => (lines: string[]) =>
  lines.with(at, (lines[at] as string).replace(from, to));

const unchanged = (lines: string[]) => lines;

test('nothing is found in an export as it was made, in a log that has grown since', async () => {
  expect(await findingsOf(reader)).toEqual([]);
  expect(await findingsOf((await planted('observations-0-ndjson', unchanged)).read)).toEqual([]);
});

test('a table of markets that is older than the log shows what the log has said before', async () => {
  // Only the generations tell how old it is.
  const older = (manifest: Package) => ({ ...manifest, generation: 1 });
  expect(await findingsOf((await planted('markets-0-ndjson', unchanged, older)).read)).toEqual([]);
  const first = await planted('markets-0-ndjson', replace(0, /"revision":\d+/, '"revision":2'), older);
  expect(await findingsOf(first.read)).toMatchObject([{ rule: 'not-in-log', url: first.url }]);
});

test('a manifest that names another log, and a file that is lost, are found', async () => {
  for (const log of [
    { root: 'AAAA', size: 9 },
    { root: 'AAAA', size: 1_000_000 },
  ]) {
    const { read } = await planted('markets-0-ndjson', unchanged, (manifest) => ({ ...manifest, log }));
    expect(await findingsOf(read)).toMatchObject([{ rule: 'not-in-log', url: LATEST }]);
  }
  const { url } = await planted('markets-0-ndjson', unchanged);
  const lost: PublicReader = async (asked, headers) => reader(asked === url ? '/lost' : asked, headers);
  expect((await findingsOf(lost)).map((each) => [each.rule, each.url])).toContainEqual(['status', url]);
});

test('the table of markets may lack a market if it is behind, but not for longer than two days', async () => {
  const older = (manifest: Package) => ({ ...manifest, generation: 1 });
  const less = (lines: string[]) => lines.slice(0, 1);
  const isLacking = async (read: PublicReader, nowMs?: number) =>
    (await findingsOf(read, nowMs)).some(({ rule, url }) => rule === 'not-in-log' && url === LATEST);
  expect(await isLacking((await planted('markets-0-ndjson', less)).read)).toBe(true);
  const { read } = await planted('markets-0-ndjson', less, older);
  expect(await isLacking(read, START_MS)).toBe(false);
  expect(await isLacking(read, START_MS + 3 * DAY_MS)).toBe(true);
});

const first = (lines: string[]) => lines[0] as string;
const another = (lines: string[], slug: string) => [...lines, (lines[1] as string).replace('"b"', `"${slug}"`)];

test.each<[string, string, (lines: string[]) => readonly string[]]>([
  ['another amount', 'observations-0-ndjson', replace(7, /"amountMinor":\d+/, '"amountMinor":1')],
  ['a correction that is hidden', 'observations-0-ndjson', replace(3, /"supersededBy":"\w+"/, '"supersededBy":null')],
  ['one row less', 'observations-0-ndjson', (lines) => lines.toSpliced(5, 1)],
  ['a row twice', 'observations-0-ndjson', (lines) => lines.toSpliced(5, 0, lines[5] as string)],
  ['two rows changed over', 'observations-0-ndjson', (lines) => [lines[1] as string, first(lines), ...lines.slice(2)]],
  [
    'a row of another part',
    'observations-1-ndjson',
    (lines) => [...lines, first(lines).replace(/"logIndex":\d+/, '"logIndex":9')],
  ],
  ['no row', 'observations-1-ndjson', (lines) => [...lines, '{}\n']],
  ['a line without an end', 'observations-1-ndjson', (lines) => [...lines, '{"market":"b"']],
  ['CSV that differs', 'observations-0-csv', replace(4, ',final,', ',estimated,')],
  ['another newest value', 'markets-0-ndjson', replace(0, /"amountMinor":\d+/, '"amountMinor":1')],
  ['a market twice', 'markets-0-ndjson', (lines) => [...lines, ...lines]],
  ['a market that is not there', 'markets-0-ndjson', (lines) => another(lines, 'c')],
  ['a removed market', 'markets-0-ndjson', (lines) => another(lines, 'gone')],
])('a planted fault is found, with its digest in the manifest: %s', async (_, name, edit) => {
  const { url, read } = await planted(name, edit);
  const found = await findingsOf(read);
  expect(found.map(({ rule }) => rule)).toContain('not-in-log');
  expect(found.every((each) => each.url === url || each.url.startsWith(EXPORT_ROOT))).toBe(true);
});
