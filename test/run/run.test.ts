/** `tidemark run`: one round, its exit codes, its counts, and what is left of a run that was killed. */
import { existsSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { ed25519Signer } from '../../contract/log/notes.ts';
import { OPERATOR_SUBJECT } from '../../lambdas/credentials/operator-key.ts';
import { newBatchOfLines } from '../../lambdas/ingest/stored-batch.ts';
import { withLedger } from '../../server/folder/data-folder.ts';
import { created } from '../../storage/ports/changes.ts';
import { workKey } from '../../storage/records/batches.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { startWitness } from '../server/witness.ts';
import { listRecipe, metalsCsv } from '../sources/example-recipe.ts';
import { codeOf, filesIn, ORIGIN, openRunWorld, serveFiles, startSource, verify } from './run-world.ts';

test('a run ingests a file and publishes it; the next one has nothing new, and writes nothing', async () => {
  const world = await openRunWorld();
  const file = await world.records('a.ndjson', { gold: [1000, 1010], silver: [20] });
  const first = await world.run([file]);
  expect(first).toMatchObject({
    code: 0,
    report: {
      outcome: 'published',
      ...{ generation: 1, markets: 2, observations: 3, deferred: [], faults: [] },
      ingested: [{ accepted: 5, unchanged: 0, refused: 0 }],
      publicFiles: { written: expect.any(Number), removed: 0 },
    },
  });
  const before = await filesIn(join(world.data, 'public'));
  expect(first.report.publicFiles).toMatchObject({ written: before.size });
  for (const words of [[file], []]) {
    expect(await world.run(words)).toMatchObject({
      code: codeOf('unchanged'),
      report: { outcome: 'unchanged', generation: 1, publicFiles: { written: 0, removed: 0 } },
    });
  }
  expect(await filesIn(join(world.data, 'public'))).toEqual(before);
  expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
});

test('a dry run, and the run that makes a market, show its first price in words; later runs do not', async () => {
  const { records, data, key } = await openRunWorld();
  const file = await records('a.ndjson', { gold: [123_456], silver: [20] });
  const shown = async (...words: readonly string[]) => {
    const environment = { TIDEMARK_LOG_KEY: key, TIDEMARK_PROJECTIONS: 'log' };
    return (await tidemark(['run', file, '--data', data, ...words], { environment })).output.match(/^first\t.*$/gm);
  };
  const price = ['first\tgold 1,234.56 USD per kilogram, 1 Jan 2025'];
  expect(await shown('--dry-run')).toEqual(price);
  const refused = (await readFile(file, 'utf8')).replace('2025-01-01', '2100-01-01');
  await writeFile(file, refused);
  expect(await shown('--dry-run')).toEqual(['first\tsilver 0.20 USD per kilogram, 1 Jan 2025']);
  await writeFile(file, refused.replace('2100-01-01', '2025-01-01'));
  expect(await shown()).toEqual(price);
  expect(await shown()).toBeNull();
});

test('one new value writes its market, its history, the list, the first page, the snapshot and the log, and nothing else', async () => {
  const world = await openRunWorld();
  await world.run([await world.records('a.ndjson', { gold: [1000], silver: [20] })]);
  const before = await filesIn(join(world.data, 'public'));
  const second = await world.run([await world.records('b.ndjson', { gold: [1000, 1010] })]);
  const after = await filesIn(join(world.data, 'public'));
  const changed = [...after.keys()].filter((path) => after.get(path) !== before.get(path));
  expect(changed.filter((path) => !path.includes('/log/'))).toEqual([
    'api/v1/latest.json',
    'api/v1/latest/all.csv',
    'api/v1/latest/all.ndjson',
    'api/v1/markets.json',
    'api/v1/markets/gold.json',
    'api/v1/markets/gold/history.json',
    'api/v1/snapshot.json',
    'index.html',
  ]);
  expect(second).toMatchObject({ code: 0, report: { publicFiles: { written: changed.length, removed: 0 } } });
});

test('a run describes no write API, and names nobody for requests unless an address is set', async () => {
  const world = await openRunWorld();
  const folder = join(world.data, 'public');
  const read = (path: string) => readFile(join(folder, path), 'utf8');
  const asked = async () => {
    const { email, statements } = JSON.parse(await read('api/v1/waitlist.json'));
    return [email, statements.length > 0];
  };
  const contact = 'prices@operator.example';
  await world.run([await world.records('a.ndjson', { gold: [1000] })]);
  expect(await asked()).toEqual([null, false]);
  await world.run([], { TIDEMARK_OPERATOR_CONTACT: contact });
  expect(await asked()).toEqual([contact, true]);
  expect(await read('docs/index.html')).not.toContain('Ask for a key');
  expect(await read('llms.txt')).toContain('takes no writes');
  const docs = [...(await filesIn(folder)).keys()].filter((path) => /^docs\/(guides|reference)\//.test(path));
  for (const path of docs) {
    const text = await read(path);
    // Beside them, the conventions have the rules of both.
    const isOnWrites = /Authorization: Bearer/.test(text) || path === 'docs/reference/conventions.html';
    expect([path, text.includes('takes no writes')]).toEqual([path, isOnWrites]);
  }
  const { paths, tags } = JSON.parse(await read('api/v1/openapi.json'));
  const operations = Object.values<object>(paths).flatMap((item) => Object.entries(item));
  expect(operations.map(([method, { security }]) => [method, security])).toEqual(operations.map(() => ['get', []]));
  expect(tags).toMatchObject([{ name: 'Public reads' }]);
  expect(await verify(folder)).toMatchObject({ code: 0, output: '' });
});

test('each link of a feed leads to a file, on a host that knows only files', async () => {
  const world = await openRunWorld({ TIDEMARK_PROJECTIONS: 'feeds,market-feeds' });
  await world.run([await world.records('a.ndjson', { gold: [1000], silver: [20] }), '--unsigned']);
  const host = await serveFiles(join(world.data, 'public'));
  for (const path of ['/feeds/changes.atom', '/feeds/markets/gold.atom']) {
    const text = await (await fetch(host + path)).text();
    const [, base = '.'] = /xml:base="([^"]*)"/.exec(text) ?? [];
    const links = Array.from(text.matchAll(/<entry>.*?<\/entry>/g)).flatMap(([entry]) =>
      Array.from(entry.matchAll(/ href="(\.[^"]*)"/g), ([, href = '']) => new URL(href, new URL(base, host + path))),
    );
    expect(links.length).toBeGreaterThan(1);
    for (const link of links) expect([link.href, (await fetch(link)).status]).toEqual([link.href, 200]);
  }
});

test('a run runs the sources that are due, or those that are named', async () => {
  const world = await openRunWorld();
  const source = await startSource(world.folder);
  const settings = { TIDEMARK_SOURCE_HOSTS: source.origin, TIDEMARK_PROJECTIONS: 'log,feeds' };
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10']);
  const startedAt = new Date().toISOString();
  expect(await world.run(['--source', source.recipe], settings)).toMatchObject({
    code: 0,
    report: { markets: 1, sources: [{ source: 'metals', outcome: 'taken-in', counts: { accepted: 2 } }] },
  });
  const { data } = JSON.parse(await readFile(join(world.data, 'public/api/v1/sources.json'), 'utf8'));
  expect(data).toMatchObject([{ label: 'Metals', markets: 1, lastFetchedAt: expect.any(String) }]);
  expect(data[0].lastFetchedAt >= startedAt).toBe(true);
  // Not due until its time.
  expect(await world.run([], settings)).toMatchObject({ code: codeOf('unchanged'), report: { sources: [] } });
  expect(await world.run(['--source', 'metals'], settings)).toMatchObject({
    code: codeOf('unchanged'),
    report: { sources: [{ outcome: 'unchanged' }] },
  });
  source.answer = null;
  const other = await world.records('a.ndjson', { silver: [20] });
  expect(await world.run([other, '--source', 'metals'], settings)).toMatchObject({
    code: codeOf('sources-failed'),
    report: { outcome: 'sources-failed', markets: 2, sources: [{ outcome: 'failed' }] },
  });
});

test('a list that lost most of its values is set aside, unless the run takes it in as it is', async () => {
  const world = await openRunWorld();
  const source = await startSource(world.folder);
  const recipe = JSON.parse(await readFile(source.recipe, 'utf8'));
  await writeFile(source.recipe, JSON.stringify({ ...recipe, list: { minimumShare: 0.9 } }));
  const run = (words: readonly string[] = []) =>
    world.run(['--source', source.recipe, ...words], { TIDEMARK_SOURCE_HOSTS: source.origin });
  source.answer = metalsCsv(['gold', '2026-11-18', '4129.10'], ['silver', '2026-11-18', '50.20']);
  expect(await run()).toMatchObject({ code: 0, report: { observations: 2 } });
  source.answer = metalsCsv(['gold', '2026-11-19', '4140.00']);
  const [reason, publicFiles] = [{ code: 'list-shrunk' }, { written: 0, removed: 0 }];
  expect(await run()).toMatchObject({
    code: codeOf('sources-failed'),
    report: { observations: 2, sources: [{ outcome: 'failed', reason }], publicFiles },
  });
  expect(await run(['--unconditional'])).toMatchObject({ code: 0, report: { observations: 3 } });
  expect(await run()).toMatchObject({ code: codeOf('unchanged') });
});

describe('a run is refused', () => {
  test.each([
    ['without a key', { TIDEMARK_LOG_KEY: '' }, 'refused'],
    ['with a text that is no key', { TIDEMARK_LOG_KEY: 'PRIVATE+KEY+x' }, 'usage'],
    ['with a key file that is missing', { TIDEMARK_LOG_KEY: '', TIDEMARK_LOG_KEY_FILE: '/does/not/exist' }, 'usage'],
    ['with a setting that is wrong', { TIDEMARK_PROJECTIONS: 'logs' }, 'usage'],
    ['with an address that is none', { HOST: '999.1.1.1' }, 'usage'],
  ] as const)('%s', async (_, environment, outcome) => {
    const world = await openRunWorld();
    expect(await world.run([], environment)).toMatchObject({ code: codeOf(outcome), report: { outcome } });
    expect(existsSync(world.data)).toBe(false);
  });

  test('with a data folder that is published, and writes nothing into it', async () => {
    const world = await openRunWorld();
    await world.run([await world.records('a.ndjson', { gold: [1000] }), '--to', world.target]);
    const before = await filesIn(world.target);
    const run = await world.run(['--data', world.target]);
    expect(run).toMatchObject({ code: codeOf('usage'), report: { outcome: 'usage' } });
    const started = await tidemark(['start', '--data', world.target, '--port', '0']);
    expect(started.code).not.toBe(0);
    expect(await filesIn(world.target)).toEqual(before);
  });

  test('for a source that is not known, and makes no folder', async () => {
    const world = await openRunWorld();
    const run = await world.run(['--source', 'nosuch', '--to', world.target]);
    expect(run).toMatchObject({ code: codeOf('usage') });
    expect([world.data, world.target].filter((path) => existsSync(path))).toEqual([]);
  });

  test('with the key of another log, and changes nothing that is public', async () => {
    const world = await openRunWorld();
    await world.run([await world.records('a.ndjson', { gold: [1000] })]);
    const before = await filesIn(join(world.data, 'public'));
    const { output } = await tidemark(['log', 'keys', 'new', '--origin', ORIGIN]);
    const more = await world.records('b.ndjson', { gold: [1000, 1001] });
    expect(await world.run([more], { TIDEMARK_LOG_KEY: output.trim() })).toMatchObject({ code: codeOf('refused') });
    expect(await filesIn(join(world.data, 'public'))).toEqual(before);
  });
});

test('a row that is refused sets its file aside; the rest is published', async () => {
  const world = await openRunWorld();
  const good = await world.records('a.ndjson', { gold: [1000] });
  const bad = join(world.folder, 'b.ndjson');
  const more = await readFile(await world.records('c.ndjson', { gold: [1000, 1010] }), 'utf8');
  await writeFile(bad, `${more}{"type":"observation","market":"none"}\n`);
  expect(await world.run([good, bad])).toMatchObject({
    code: codeOf('set-aside'),
    report: {
      ...{ outcome: 'rows-refused', markets: 1, observations: 1 },
      ingested: [{ refused: 0 }, { records: 4, accepted: 0, unchanged: 2, refused: 1 }],
    },
  });
  const shown = await tidemark(['run', bad, '--data', world.data], { environment: { TIDEMARK_LOG_KEY: world.key } });
  const words = /^file\t.*b\.ndjson: 2 records known, 1 record refused, 1 record not stored because of a refused one$/m;
  expect(shown.output).toMatch(words);
});

test('a file whose sourceUrl has changed is warned of, because its corrections stand beside the known values', async () => {
  const world = await openRunWorld();
  const path = await world.records('a.ndjson', { gold: [1000] });
  await world.run([path]);
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replaceAll(/("sourceUrl":"[^"]*)"/g, '$1?v=2"').replace(':1000,', ':1001,'));
  const run = await world.run([path, '--mode', 'correct']);
  expect(run).toMatchObject({ code: 0, report: { ingested: [{ corrected: 0, besides: 1 }] } });
  expect(run.errors).toMatch(/a\.ndjson: 1 row stands beside .* because sourceUrl is another one/);
});

test('prices of a list that are too small for their market are counted for its source, and the first is named', async () => {
  const world = await openRunWorld();
  const source = await startSource(world.folder);
  const value = { column: 'in', quotedQuantity: '1', rounding: 'nearest' };
  const recipe = listRecipe(3, {
    recipe: { url: `${source.origin}/prices.json`, hosts: [source.origin] },
    ...{ market: { unit: { quantity: 'exact', atLeast: '1000', of: 'token' } }, observation: { value } },
  });
  await writeFile(source.recipe, JSON.stringify(recipe));
  const run = async (a: number, b: number) => {
    source.answer = Buffer.from(JSON.stringify({ a: { in: a }, b: { in: b } }));
    const words = ['--source', source.recipe, '--unconditional'];
    return await world.run(words, { TIDEMARK_SOURCE_HOSTS: source.origin });
  };
  expect((await run(0.001, 0.002)).errors).not.toContain('withheld');
  const { report, errors } = await run(1e-9, 2e-9);
  expect(report).toMatchObject({ sources: [{ counts: { withheld: 2 }, firstWithheld: { market: 'a' }, refused: [] }] });
  expect(errors).toMatch(/^metals: 2 prices round to zero.* The first: a price .*, 1e-9\.$/m);
});

test('records of a source that the service refuses are named, because the job leaves no ledger to look in', async () => {
  const world = await openRunWorld();
  const source = await startSource(world.folder);
  const days = Array.from({ length: 7 }, (_, day) => `2026-11-${11 + day}`);
  source.answer = metalsCsv(...days.map((day) => ['gold', day, '4129.10'] as const));
  const run = () => world.run(['--source', source.recipe, '--unconditional'], { TIDEMARK_SOURCE_HOSTS: source.origin });
  await run();
  source.answer = metalsCsv(...days.map((day) => ['gold', day.replace('11-1', '10-1'), '412910.00'] as const));
  const { code, report, errors } = await run();
  const first = { market: 'gold-usd', metric: 'price', observedAt: '2026-10-11T00:00:00Z', code: 'outlier' };
  expect(code).toBe(codeOf('set-aside'));
  expect(report).toMatchObject({ sources: [{ refused: [first, ...Array.from({ length: 6 }, () => ({}))] }] });
  expect(errors.split('\n').filter((line) => line.startsWith('metals: gold-usd price 2026-10-1'))).toHaveLength(5);
  expect(errors).toMatch(/^metals: and 2 more; --json names the first 20 of each kind$/m);
});

test('two rows that contradict each other, parts of a file apart, change no value in any run', async () => {
  const world = await openRunWorld();
  const days = Array.from({ length: 1_010 }, (_, day) =>
    new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10),
  );
  const prices = Array.from({ length: 505 }, (_, day) => 100_000 + (day % 7));
  const path = await world.records('a.ndjson', { gold: prices, tin: prices });
  const [, first = ''] = (await readFile(path, 'utf8')).split('\n');
  const again = { ...JSON.parse(first), amountMinor: 100_003 };
  await writeFile(path, `${await readFile(path, 'utf8')}${JSON.stringify(again)}\n`);
  const source = await startSource(world.folder);
  const rows = days.map((day, index) => ['silver', day, String(50 + (index % 7) / 100)] as const);
  source.answer = metalsCsv(...rows, ['silver', days[5] as string, '51']);
  const words = [path, '--mode', 'correct', '--source', source.recipe, '--unconditional'];
  const runs = [];
  for (let round = 0; round < 2; round++) runs.push(await world.run(words, { TIDEMARK_SOURCE_HOSTS: source.origin }));
  expect(runs).toMatchObject([
    { code: codeOf('set-aside'), report: { sources: [{ refusedRows: 2 }] } },
    { report: { observations: 2_007, ingested: [{ accepted: 0, refused: 1 }], publicFiles: { written: 0 } } },
  ]);
  const fault = (line: number, other: number) => {
    return { line, code: 'duplicate.in-batch', detail: expect.stringMatching(`line ${other} `) };
  };
  expect(runs[0]).toMatchObject({ report: { sources: [{ faults: [fault(7, 1_012), fault(1_012, 7)] }] } });
  expect(runs[0]?.errors).toMatch(/a\.ndjson:1013: duplicate\.in-batch: line 2 /);
});

test('of two definitions of a market the first counts, and a row with its members in another order is a repetition', async () => {
  const world = await openRunWorld();
  const path = await world.records('a.ndjson', { gold: [1000, 1010] });
  const text = await readFile(path, 'utf8');
  const [definition = '', row = ''] = text.split('\n');
  const other = JSON.stringify({ ...JSON.parse(definition), name: 'Other' });
  const again = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(row)).reverse()));
  await writeFile(path, `${text}${other}\n${again}\n`);
  const run = await world.run([path, '--partial']);
  expect(run).toMatchObject({ report: { observations: 2, ingested: [{ accepted: 3, refused: 2, newMarkets: 1 }] } });
  expect(run.errors).toMatch(/line 2 is about the same observation or market, and says the same/);
});

test('a dry run knows the markets of earlier files, and says that it compares no values of distant rows', async () => {
  const world = await openRunWorld();
  const days = Array.from({ length: 400 }, () => 1000);
  const path = await world.records('b.ndjson', { gold: days, silver: days, tin: days });
  const records = (await readFile(path, 'utf8')).split('\n');
  const [first, second] = [join(world.folder, 'a.ndjson'), path];
  const isMarket = (record: string) => record.includes('"type":"market"');
  await writeFile(first, `${records.filter(isMarket).join('\n')}\n`);
  await writeFile(second, records.filter((record) => !isMarket(record)).join('\n'));
  const counts = [
    { newMarkets: 3 },
    { newMarkets: 0, changedMarkets: 0, newValues: 1_200, records: 1_200, refused: 0 },
  ];
  const dryRun = await world.run([first, second, '--dry-run']);
  expect(dryRun).toMatchObject({ code: 0, report: { outcome: 'examined', ingested: counts } });
  expect(dryRun.errors).toMatch(/b\.ndjson is too large to be examined as a whole/);
  expect(dryRun.errors).not.toContain('a.ndjson');
  expect(await world.run([first, second])).toMatchObject({ code: 0, report: { ingested: counts } });
});

test('a dry run shows what a killed run has left as done, and changes nothing in the ledger', async () => {
  const world = await openRunWorld();
  const path = await world.records('a.ndjson', { gold: [1000] });
  await world.run([path]);
  const later = await world.records('b.ndjson', { gold: [1000, 1010] });
  await leaveBatch(world.data, (await readFile(later, 'utf8')).trimEnd().split('\n'));
  const items = () => {
    const database = new DatabaseSync(join(world.data, 'ledger.sqlite'));
    const rows = database.prepare('SELECT * FROM items ORDER BY partition, sort').all();
    database.close();
    return rows;
  };
  const before = items();
  expect(await world.run([later, '--dry-run'])).toMatchObject({
    report: { outcome: 'examined', ingested: [{ unchanged: 3, accepted: 0 }] },
  });
  expect(items()).toEqual(before);
  expect(await world.run()).toMatchObject({ report: { outcome: 'published', observations: 2 } });
});

/** The batch of a run that was killed before its work was done. */
async function leaveBatch(folder: string, lines: readonly string[]): Promise<void> {
  const sent = {
    id: 'bat_0001LEFT',
    subject: OPERATOR_SUBJECT,
    mode: 'append',
    partial: false,
    dryRun: false,
  } as const;
  const { batch, changes } = newBatchOfLines({ ...sent, receivedAt: '2026-01-01T00:00:00Z' }, lines);
  const work = { kind: 'ingest', batch: batch.id, lane: batch.subject, lease: null } as const;
  await withLedger(folder, async (ledger) => {
    await ledger.transact([...changes, created(workKey(batch.id, batch.subject), work)], { attemptId: 'left' });
  });
}

test('a first run whose file is refused publishes nothing; with --partial, the other rows', async () => {
  const world = await openRunWorld();
  const path = await world.records('a.ndjson', { gold: [1000] });
  await writeFile(path, `${await readFile(path, 'utf8')}{"type":"observation","market":"none"}\n`);
  const words = [path, '--to', world.target];
  const refused = await world.run(words);
  expect(refused).toMatchObject({
    code: codeOf('set-aside'),
    report: { outcome: 'rows-refused', generation: 0, markets: 0, publicFiles: { written: 0 } },
  });
  expect(refused.errors).toContain('nothing from line 1 on was stored');
  expect([...(await filesIn(world.target)).keys()]).toEqual([]);
  expect(await world.run([...words, '--partial'])).toMatchObject({
    code: codeOf('set-aside'),
    report: { outcome: 'rows-refused', generation: 1, markets: 1, observations: 1 },
  });
});

test('it publishes unsigned if it is told to, with a key or without one, and makes none', async () => {
  const world = await openRunWorld();
  const file = await world.records('a.ndjson', { gold: [1000] });
  const run = () => world.run([file, '--unsigned'], { TIDEMARK_LOG_KEY: '' });
  expect(await run()).toMatchObject({ code: 0, report: { log: null } });
  expect(await run()).toMatchObject({ code: codeOf('unchanged'), report: { log: null } });
  expect(await world.run([file, '--unsigned'])).toMatchObject({ report: { log: null } });
  expect(['log-key', 'public/api/v1/log/checkpoint'].filter((path) => existsSync(join(world.data, path)))).toEqual([]);
});

test('the key comes from a file that only its owner may read; it is printed and published nowhere', async () => {
  const world = await openRunWorld();
  const path = join(world.folder, 'key');
  await writeFile(path, `${world.key}\n`);
  const environment = { TIDEMARK_LOG_KEY: '', TIDEMARK_LOG_KEY_FILE: path };
  await chmod(path, 0o644);
  expect(await world.run([], environment)).toMatchObject({ code: codeOf('refused') });
  await chmod(path, 0o600);
  const message = join(world.folder, 'message');
  const file = await world.records('a.ndjson', { gold: [1000] });
  const run = await world.run([file, '--to', world.target, '--message-file', message], environment);
  expect(run.code).toBe(0);
  // PRIVATE+KEY+name+hash+key, of which the key is base64: it may hold further pluses.
  const secret = world.key.split('+').slice(4).join('+');
  expect(secret.length).toBeGreaterThan(40);
  const paths = [world.data, world.target].map(async (at) =>
    [...(await filesIn(at)).keys()].map((name) => join(at, name)),
  );
  const files = (await Promise.all(paths)).flat().map((name) => readFile(name, 'latin1'));
  const texts = [run.output, run.errors, await readFile(message, 'utf8'), ...(await Promise.all(files))];
  expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});

test('a key is changed by two keys in one secret: both sign, and then the new one alone', async () => {
  const world = await openRunWorld();
  const next = (await tidemark(['log', 'keys', 'new', '--origin', ORIGIN])).output.trim();
  await world.run([await world.records('a.ndjson', { gold: [1000] })]);
  const signersAfter = async (key: string, amount: number) => {
    const file = await world.records('b.ndjson', { gold: [1000, amount] });
    expect(await world.run([file, '--mode', 'correct'], { TIDEMARK_LOG_KEY: key })).toMatchObject({ code: 0 });
    const note = await readFile(join(world.data, 'public/api/v1/log/checkpoint'), 'utf8');
    return note.match(/^— /gm)?.length;
  };
  expect(await signersAfter(`${next}\n${world.key}`, 1001)).toBe(2);
  expect(await signersAfter(next, 1002)).toBe(1);
  expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
});

test('a witness cosigns what a run publishes; one that does not answer is told', async () => {
  const world = await openRunWorld();
  const witness = await startWitness(ed25519Signer(world.key).vkey, Date.now);
  const file = await world.records('a.ndjson', { gold: [1000] });
  const asking = (url: string) => world.run([file], { TIDEMARK_WITNESSES: `${witness.vkey} ${url}` });
  expect(await asking('http://127.0.0.1:1')).toMatchObject({
    code: 0,
    report: { markets: 1, warnings: [expect.any(String)] },
  });
  expect(await asking(witness.url)).toMatchObject({ code: 0, report: { publicFiles: { written: 1 } } });
  expect(await asking(witness.url)).toMatchObject({ code: codeOf('unchanged') });
  expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
});

describe('two runs at once', () => {
  test('the second one waits', async () => {
    const world = await openRunWorld();
    const file = await world.records('a.ndjson', { gold: [1000] });
    // As processes: what runs in this one runs one after the other.
    const hooks = { NODE_OPTIONS: '' };
    const codes = (await Promise.all([world.run([file], hooks), world.run([file], hooks)])).map(({ code }) => code);
    expect(codes.sort()).toEqual([0, codeOf('unchanged')]);
    expect(await verify(join(world.data, 'public'))).toMatchObject({ code: 0, output: '' });
  });
});

describe('after kill -9 the next run completes', () => {
  test('a first round, from its first file to its last step', async () => {
    const reference = await openRunWorld();
    const prices = { gold: [1000] };
    const first = await reference.run([await reference.records('a.ndjson', prices)]);
    const { written } = first.report.publicFiles as { readonly written: number };
    // The bundle and the layout of the list are files, too.
    for (const rename of [1, 40, written, written + 2]) {
      const world = await openRunWorld();
      const words = [await world.records('a.ndjson', prices), '--to', world.target];
      expect((await world.dieAt(rename, words)).code).toBeNull();
      expect(await world.run(words)).toMatchObject({ report: { markets: 1, faults: [] } });
      expect(await filesIn(world.target)).toHaveProperty('size', written);
      expect(await verify(world.target)).toMatchObject({ code: 0, output: '' });
      expect(await world.run(words)).toMatchObject({ code: codeOf('unchanged') });
    }
  });

  // publish-faults.test.ts ends the publisher after each of its steps.
  test('a later round, at one file in three', async () => {
    const world = await openRunWorld();
    const to = ['--to', world.target];
    const amounts = [1000];
    await world.run([await world.records('a.ndjson', { gold: amounts }), ...to]);
    for (const rename of [1, 4, 7, 10]) {
      amounts.push(1000 + amounts.length);
      const file = await world.records('a.ndjson', { gold: amounts });
      expect((await world.dieAt(rename, [file, ...to])).code).toBeNull();
      expect(await world.run(to)).toMatchObject({ report: { observations: amounts.length, faults: [] } });
    }
    expect(await verify(world.target)).toMatchObject({ code: 0, output: '' });
  });
});
