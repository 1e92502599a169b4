/** `--files`: CSV files with their mappings beside them are the whole input. Rows that they have lost; markets that a run removes. */
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { mappingOf } from './files-mapping.ts';
import { codeOf, filesIn, openRunWorld, verify } from './run-world.ts';

/** A service whose ledger begins from its log in each run. */
async function serviceOfFiles() {
  const world = await openRunWorld();
  const files = join(world.folder, 'files');
  await mkdir(files);
  await writeFile(join(files, 'README.md'), 'Not data.');
  const put = async (slug: string, ...rows: readonly string[]) => {
    await writeFile(join(files, `${slug}.csv`), ['date,price', ...rows, ''].join('\n'));
    await writeFile(join(files, `${slug}.mapping.jsonc`), JSON.stringify(mappingOf(slug)));
  };
  const run = async (...words: readonly string[]) => {
    await rm(world.data, { recursive: true, force: true });
    return await world.run(['--files', files, '--mode', 'correct', '--to', world.target, '--from-log', ...words]);
  };
  const bodyOf = async (slug: string) =>
    JSON.parse(await readFile(join(world.target, `api/v1/markets/${slug}.json`), 'utf8'));
  return { ...world, files, put, run, bodyOf };
}

test('each file has its own mapping, and none may lack the other; a changed row is a correction; unchanged files change nothing', async () => {
  const { folder, files, put, run, bodyOf, target } = await serviceOfFiles();
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.10');
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 3 } });
  const before = await filesIn(target);
  expect(await run()).toMatchObject({ code: codeOf('unchanged') });
  expect(await filesIn(target)).toEqual(before);
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.20', '2026-01-03,5.30');
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 5 } });
  expect(await bodyOf('tea')).toMatchObject({ metrics: { price: { amountMinor: 530 } } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
  await rm(join(files, 'oats.mapping.jsonc'));
  const { code, errors } = await run();
  expect([code, errors]).toEqual([codeOf('usage'), expect.stringContaining('oats.mapping.jsonc')]);
  // The good file is named, because it is not sent either.
  expect(errors).toContain(join(files, 'tea.csv'));
  await put('oats', '2026-01-01,2.00');
  await rm(join(files, 'oats.csv'));
  const lost = await run();
  expect([lost.code, lost.errors]).toEqual([
    codeOf('usage'),
    expect.stringContaining(
      `${join(files, 'oats.csv')} is missing: there is only its mapping ${join(files, 'oats.map')}`,
    ),
  ]);
  expect(lost.errors).toContain(join(files, 'tea.csv'));
  // A mapping in the folder may be that of a file elsewhere.
  await writeFile(join(folder, 'row.csv'), 'date,price\n2026-01-02,2.10\n');
  expect(await run('--mapping', join(files, 'oats.mapping.jsonc'), join(folder, 'row.csv'))).toMatchObject({ code: 0 });
  await put('oats', '2026-01-01,2.00');
  await writeFile(join(files, 'oats.mapping.jsonc'), '{}');
  await writeFile(join(files, 'tea.mapping.jsonc'), '{}');
  expect((await run()).errors).toMatch(/oats\.mapping\.jsonc:1 \/market: .*tea\.mapping\.jsonc:1 \/market: /s);
});

test.each<[string, (files: string, aside: string) => Promise<void>, string | null]>([
  ['a link to a file', (files, aside) => symlink(aside, join(files, 'oats-2.csv')), null],
  ['a link to nothing', (files) => symlink('nowhere.csv', join(files, 'oats-2.csv')), 'oats-2.csv'],
  ['a file with another ending', (files, aside) => rename(aside, join(files, 'oats-2.csv.bak')), 'oats-2.csv.bak'],
  [
    'records with no known ending',
    (files) => writeFile(join(files, 'rows.old'), '{"type":"observation"}\n'),
    'rows.old',
  ],
  [
    'a subfolder',
    async (files, aside) => {
      await mkdir(join(files, '2026'));
      await rename(aside, join(files, '2026/oats-2.csv'));
    },
    '2026/',
  ],
])('a complete folder loses no row to %s', async (_, place, skipped) => {
  const { folder, files, put, run, bodyOf, target } = await serviceOfFiles();
  await put('oats', '2026-01-01,2.00', '2026-01-02,2.10');
  await put('oats-2', '2026-01-03,2.20');
  await cp(join(files, 'oats.mapping.jsonc'), join(files, 'oats-2.mapping.jsonc'));
  expect(await run()).toMatchObject({ code: 0 });
  const before = await filesIn(target);
  const aside = join(folder, 'aside.csv');
  await rename(join(files, 'oats-2.csv'), aside);
  await place(files, aside);
  const { code, errors } = await run('--complete', '--retract-missing');
  expect([code, errors]).toEqual(
    skipped === null
      ? [codeOf('unchanged'), expect.stringContaining('README.md')]
      : [codeOf('usage'), expect.stringContaining(`it has data that are skipped: ${skipped} (`)],
  );
  expect(await filesIn(target)).toEqual(before);
  expect(await bodyOf('oats')).toMatchObject({ metrics: { price: { amountMinor: 220 } } });
});

test('two files give one market the same name, or the rows of the later file are refused: no run publishes them', async () => {
  const { files, run, bodyOf, target } = await serviceOfFiles();
  const [dot, hyphen] = ['a.csv', 'b.csv'].map((name) => join(files, name)) as [string, string];
  const put = async (path: string, model: string, price: string, slugDigest = 'never') => {
    const { market, ...mapping } = mappingOf('m-{provider}-{model}');
    const named = { ...market, slugDigest, name: '{provider}, {model}' };
    const text = JSON.stringify({ ...mapping, match: ['provider', 'model'], market: named });
    await writeFile(path.replace('.csv', '.mapping.jsonc'), text);
    await writeFile(path, `date,provider,model,price\n2026-01-01,openai,${model},${price}\n`);
  };
  await put(dot, 'gpt-4.1', '2.00');
  await put(hyphen, 'gpt-4-1', '3.00');
  const { code, errors, report } = await run();
  expect([code, report.markets, report.observations]).toEqual([codeOf('set-aside'), 1, 1]);
  expect(errors).toContain(
    `${hyphen}:2 slug: record.invalid: m-openai-gpt-4-1 is already the slug of "openai, gpt-4.1" in ${dot}, and here it is ` +
      'that of "openai, gpt-4-1": if these are two markets, make the slug different, such as with "slugDigest": "unless-exact"',
  );
  const before = await filesIn(target);
  expect(await run('--partial')).toMatchObject({ code: codeOf('set-aside'), report: { publicFiles: { written: 0 } } });
  // A file that is named beside the folder is a file of the run, too. It comes first, and says the same as the folder.
  expect(await run('--mapping', join(files, 'a.mapping.jsonc'), dot)).toMatchObject({ code: codeOf('set-aside') });
  expect(await filesIn(target)).toEqual(before);
  expect(await bodyOf('m-openai-gpt-4-1')).toMatchObject({
    name: 'openai, gpt-4.1',
    metrics: { price: { amountMinor: 200 } },
  });
  await put(hyphen, 'gpt-4-1', '3.00', 'unless-exact');
  await cp(dot, join(files, 'c.csv'));
  await cp(join(files, 'a.mapping.jsonc'), join(files, 'c.mapping.jsonc'));
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 2 } });
});

test('each file is counted: markets, values, corrections, and rows that stay withdrawn until they are reinstated', async () => {
  const { folder, files, put, run, bodyOf, target } = await serviceOfFiles();
  const message = join(folder, 'message');
  const linesOf = async (...words: readonly string[]) => {
    const { report, errors } = await run('--message-file', message, ...words);
    const body = (await readFile(message, 'utf8')).split('\n').slice(2, -2);
    expect(body.join('\n')).not.toContain('bat_');
    const rows = report.ingested as readonly { [name: string]: unknown }[];
    const zeros = {
      newMarkets: 0,
      changedMarkets: 0,
      newValues: 0,
      corrected: 0,
      reinstated: 0,
      retracted: 0,
      refused: 0,
    };
    const counts = rows.map((row) =>
      Object.fromEntries(Object.keys(zeros).flatMap((name) => (row[name] === 0 ? [] : [[name, row[name]]]))),
    );
    return { counts, errors, body: body.map((line) => line.replace(`${files}/`, '')) };
  };
  await put('oats', '2026-01-01,2.00', '2026-01-02,2.10');
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.10');
  expect(await linesOf()).toMatchObject({
    counts: [
      { newMarkets: 1, newValues: 2 },
      { newMarkets: 1, newValues: 2 },
    ],
    body: ['oats.csv: 1 market new, 2 values new', 'tea.csv: 1 market new, 2 values new'],
  });

  await put('tea', '2026-01-01,5.05', '2026-01-02,5.10', '2026-01-03,5.20');
  const { market, ...mapping } = mappingOf('tea');
  await writeFile(join(files, 'tea.mapping.jsonc'), JSON.stringify({ ...mapping, market: { ...market, name: 'Tea' } }));
  expect((await linesOf('--dry-run')).errors).toMatch(/^tea price 2026-01-01T00:00:00Z: 5\.00 EUR .* → 5\.05 EUR /m);
  expect(await linesOf()).toMatchObject({
    counts: [{}, { changedMarkets: 1, newValues: 1, corrected: 1 }],
    body: ['tea.csv: 1 market changed, 1 value new, 1 value corrected, 1 record known'],
  });

  await put('oats', '2026-01-01,2.00');
  await run('--complete', '--retract-missing');
  await put('oats', '2026-01-01,2.00', '2026-01-02,2.10');
  const back = await linesOf();
  expect([back.counts, back.body]).toEqual([[{ retracted: 1 }, {}], []]);
  expect(back.errors).toMatch(/oats\.csv: 1 row gives a value that was retracted, .* --reinstate/);
  // Only the rows of the named file, although the folder has all.
  await writeFile(join(folder, 'row.csv'), 'date,price\n2026-01-01,2.00\n');
  const words = [join(folder, 'row.csv'), '--mapping', join(files, 'oats.mapping.jsonc'), '--reinstate'];
  expect((await linesOf(...words)).counts).toEqual([{}, { retracted: 1 }, {}]);
  await writeFile(join(folder, 'row.csv'), 'date,price\n2026-01-02,2.10\n');
  expect((await linesOf(...words)).counts).toEqual([{ corrected: 1, reinstated: 1 }, {}, {}]);
  expect(await bodyOf('oats')).toMatchObject({ metrics: { price: { amountMinor: 210 } } });

  await put('oats', '2026-01-01,2.00');
  await run('--complete', '--retract-missing');
  await put('oats', '2026-01-01,2.00', '2026-01-02,2.20');
  expect(await linesOf()).toMatchObject({
    counts: [{ corrected: 1, reinstated: 1 }, {}],
    body: ['oats.csv: 1 value corrected (1 of them retracted before), 2 records known'],
  });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test.each([
  ['a row of another file', 'oats.csv', 'date,price\n2026-01-01,2.00\nTotal;;;;88\n'],
  ['no rows at all', 'oats.csv', ''],
  ['an end that is cut off', 'oats.csv.gz', gzipSync('date,price\n2026-01-01,2.00\n').subarray(0, -4)],
])('a file with %s is refused alone: the others are published, and each is named', async (_, name, content) => {
  const { files, put, run, bodyOf, target } = await serviceOfFiles();
  await put('oats', '2026-01-01,2.00', '2026-01-02,2.00');
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.10');
  expect(await run()).toMatchObject({ code: 0, report: { markets: 2, observations: 4 } });
  await rm(join(files, 'oats.csv'));
  await writeFile(join(files, name), content);
  await put('tea', '2026-01-01,5.00', '2026-01-02,5.20');
  const { code, report, errors } = await run('--complete', '--retract-missing');
  expect([code, report]).toMatchObject([
    codeOf('set-aside'),
    {
      ...{ outcome: 'rows-refused', observations: 5 },
      ingested: [
        { file: join(files, name), accepted: 0, refused: 1 },
        { file: join(files, 'tea.csv'), accepted: 1, refused: 0 },
      ],
    },
  ]);
  expect(errors).toContain(`${name}:`);
  expect(errors).toContain('was not taken in as a whole, so it was not compared');
  expect(await bodyOf('tea')).toMatchObject({ metrics: { price: { amountMinor: 520 } } });
  expect(await bodyOf('oats')).toMatchObject({ metrics: { price: { amountMinor: 200 } } });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('a run removes a market for good, with the reason, and names it; the next runs keep it removed', async () => {
  const { files, put, run, target } = await serviceOfFiles();
  await put('tea', '2026-01-01,5.00');
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: 0 });
  const removal = ['--remove', 'oats', '--public-reason', 'It was an example.', '--replaced-by', 'tea'];
  await rm(join(files, 'oats.csv'));
  await rm(join(files, 'oats.mapping.jsonc'));
  expect(await run('--remove', 'oats')).toMatchObject({ code: codeOf('usage') });
  const unknown = await run('--remove', 'oatz', '--public-reason', 'It was an example.');
  expect(unknown).toMatchObject({
    code: codeOf('refused'),
    errors: expect.stringContaining('no market oatz to remove'),
  });
  expect(await run(...removal)).toMatchObject({ code: 0, report: { markets: 1, removed: ['oats'] } });
  const gone = JSON.parse(await readFile(join(target, 'api/v1/markets/oats.gone.json'), 'utf8'));
  expect(gone).toMatchObject({ reason: 'It was an example.', replacedBy: 'tea' });
  expect(await run(...removal)).toMatchObject({ code: codeOf('unchanged'), report: { markets: 1, removed: [] } });
  expect(await run()).toMatchObject({ code: codeOf('unchanged'), report: { markets: 1 } });
  await put('oats', '2026-01-01,2.00');
  expect(await run()).toMatchObject({ code: codeOf('set-aside'), report: { markets: 1 } });
  // The other markets are compared.
  await put('tea', '2026-01-02,5.00');
  const compared = await run('--complete', '--partial');
  expect((compared.report.ingested as object[]).at(-1)).toMatchObject({ missing: 1, withdrawn: null });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('a row that a file has lost is withdrawn if the run is told that the files are complete, and stands again if it is back', async () => {
  const { files, put, run, target } = await serviceOfFiles();
  const days = (count: number, ...without: number[]) =>
    Array.from({ length: count }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')},5.00`).filter(
      (_, day) => !without.includes(day),
    );
  const states = async (slug: string) => {
    const { data } = JSON.parse(await readFile(join(target, `api/v1/markets/${slug}/history.json`), 'utf8'));
    const newest = data.filter(({ supersededBy }: { supersededBy: null }) => supersededBy === null);
    return newest.flatMap(({ observedAt = '', retraction, publicReason }: Record<string, string | null>) =>
      retraction === null ? [] : [`${observedAt?.slice(0, 10)} ${retraction} ${publicReason}`],
    );
  };
  const complete = ['--complete', '--retract-missing', '--public-reason', 'The shop took it back.'];
  await put('tea', ...days(9));
  await put('oats', ...days(9));
  // The prices of one market are in two files.
  await put('oats', ...days(4));
  await cp(join(files, 'oats.mapping.jsonc'), join(files, 'oats-2.mapping.jsonc'));
  await writeFile(join(files, 'oats-2.csv'), ['date,price', ...days(9).slice(4), ''].join('\n'));
  expect(await run(...complete)).toMatchObject({ code: 0, report: { markets: 2, observations: 18 } });
  const before = await filesIn(target);

  await put('tea', ...days(9, 2));
  const missing = { missing: 1, withdrawn: 1, returned: 0 };
  const last = (report: Record<string, unknown>) => (report.ingested as object[]).at(-1);
  expect(await run()).toMatchObject({ code: codeOf('unchanged') });
  const dry = await run(...complete, '--dry-run');
  expect([dry.code, dry.report.outcome, last(dry.report)]).toEqual([0, 'examined', expect.objectContaining(missing)]);
  expect(await filesIn(target)).toEqual(before);
  const done = await run(...complete);
  expect([done.code, last(done.report)]).toEqual([0, expect.objectContaining(missing)]);
  expect([await states('tea'), await states('oats')]).toEqual([['2026-01-03 withdrawn The shop took it back.'], []]);
  expect(await run(...complete)).toMatchObject({ code: codeOf('unchanged') });

  // A download that was cut off, beside a file that is whole.
  await put('oats', ...days(1));
  await rm(join(files, 'oats-2.csv'));
  await rm(join(files, 'oats-2.mapping.jsonc'));
  await put('tea', ...days(9, 2, 5));
  const cut = await run(...complete);
  expect([cut.code, cut.errors, last(cut.report)]).toEqual([
    codeOf('set-aside'),
    expect.stringMatching(/list-shrunk: .*oats has 1 of the 9 /),
    expect.objectContaining({ missing: 9, withdrawn: 1 }),
  ]);
  expect([(await states('tea')).length, await states('oats')]).toEqual([2, []]);
  expect(await run(...complete, '--minimum-share', '0')).toMatchObject({ code: 0 });
  expect((await states('oats')).length).toBe(8);

  await put('tea', ...days(9));
  expect(await run(...complete)).toMatchObject({ code: codeOf('unchanged') });
  expect(await run('--reinstate')).toMatchObject({ code: 0 });
  expect(await states('tea')).toEqual([]);

  await rm(join(files, 'oats.csv'));
  await rm(join(files, 'oats.mapping.jsonc'));
  expect(await run(...complete)).toMatchObject({
    code: codeOf('unchanged'),
    errors: expect.stringMatching(/oats is published.*"retired".*--remove/s),
  });
  expect(await verify(target)).toMatchObject({ code: 0, output: '' });
});

test('nothing is withdrawn if a file of the folder is empty, unless the share says so; the message names withdrawals', async () => {
  const { folder, files, put, run } = await serviceOfFiles();
  const days = Array.from({ length: 9 }, (_, day) => `2026-01-0${day + 1},5.00`);
  await put('oats', ...days.slice(0, 6));
  await cp(join(files, 'oats.mapping.jsonc'), join(files, 'oats-2.mapping.jsonc'));
  const later = join(files, 'oats-2.csv');
  await writeFile(later, ['date,price', ...days.slice(6), ''].join('\n'));
  const complete = ['--complete', '--retract-missing', '--message-file', join(folder, 'message')];
  await run(...complete);
  await writeFile(later, 'date,price\n');
  const empty = await run(...complete);
  expect(empty).toMatchObject({
    code: codeOf('set-aside'),
    report: { outcome: 'withdrawals-held-back' },
    errors: expect.stringMatching(/Nothing was withdrawn: a file/),
  });
  expect((empty.report.ingested as object[]).at(-1)).toMatchObject({ missing: 3, withdrawn: null, isHeldBack: true });
  expect(await run(...complete, '--minimum-share', '0')).toMatchObject({ code: 0, report: { observations: 12 } });
  expect(await readFile(join(folder, 'message'), 'utf8')).toContain('\n3 published and missing, 3 withdrawn,');
});

test.each([
  ['to withdraw without a complete folder', ['--retract-missing', '--mode', 'correct']],
  ['to call files complete in the mode append', ['--complete', '--files', '.']],
  ['to call single files complete', ['--complete', '--mode', 'correct']],
  ['to give a reason for nothing', ['--public-reason', 'It is gone.']],
  ['to remove a market in a dry run', ['--dry-run', '--remove', 'oats', '--public-reason', 'It is gone.']],
])('it is wrong %s', async (_, words) => {
  expect(await (await openRunWorld()).run(words)).toMatchObject({ code: codeOf('usage') });
});
