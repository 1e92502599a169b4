/** The pages for people are published when they change, and only those that change. */
import { expect, test } from 'vitest';
import { READ_HOST, WRITE_HOST } from '../../../contract/files/example-hosts.ts';
import { OPERATOR_PLACE } from '../../../contract/files/operator-html.ts';
import { parsePublicKey } from '../../../contract/files/public-objects.ts';
import { collectGarbage } from '../../../publisher/collect-garbage.ts';
import { publicMetadata } from '../../../publisher/kernel/files/fenced-put.ts';
import { PAGE_RETENTION_SECONDS } from '../../../publisher/kernel/sweep.ts';
import { publish } from '../../../publisher/publish.ts';
import { type Site, siteObject, siteOf, withHosts, withOperator } from '../../../publisher/site.ts';
import { PUBLISHED_SITE_KEY } from '../../../storage/records/publication.ts';
import { createWorld, market, publicObjects, type World } from '../world.ts';

const FILES = {
  'index.html': '<!doctype html>\n<title>Märkte</title>\n',
  'docs/guides/log.html': '<!doctype html>\n<title>Log</title>\n',
  'assets/site.css': 'body{}\n',
  'assets/explorer.js': 'start();\n',
  'assets/icon.svg': '<svg/>\n',
  'robots.txt': 'User-agent: *\n',
};

const site = (changes: Readonly<Record<string, string | null>> = {}): Site => {
  const files = Object.entries({ ...FILES, ...changes }).filter((file): file is [string, string] => file[1] !== null);
  return siteOf(new Map(files));
};

const NEXT = site({ 'assets/explorer.js': 'start(2);\n', 'docs/new.html': 'new\n', 'robots.txt': null });

const keyOf = (file: string) => `public/${file}`;
const publishSite = (world: World, built: Site | null) =>
  publish({ ...world.dependencies, ...(built === null ? {} : { site: built }) });

async function publishedWorld(): Promise<World> {
  const world = createWorld();
  await world.ingest([market('a')]);
  await publishSite(world, site());
  world.objects.resetCounts();
  return world;
}

/** What is public of the site, by file. */
const shown = (world: World) =>
  Object.fromEntries(
    [...publicObjects(world.objects)].flatMap(([key, body]) =>
      parsePublicKey(key)?.kind.startsWith('site-') ? [[key.slice(keyOf('').length), body]] : [],
    ),
  );
const putKeys = (world: World) => world.objects.puts.map(({ key }) => key).filter((key) => key.startsWith('public/'));

test('every page says who operates the service, as text; another operator puts the pages alone again', async () => {
  const world = createWorld();
  const built = site({ 'index.html': `<p>1</p>${OPERATOR_PLACE} ${OPERATOR_PLACE}` });
  await publishSite(world, withOperator(built, {}));
  expect(shown(world)['index.html']).toContain(OPERATOR_PLACE);
  world.objects.resetCounts();
  const operator = {
    name: '<b>Märkte & Co',
    contact: 'desk@grain.example',
    licence: 'https://grain.example/terms?a&b',
  };
  await publishSite(world, withOperator(built, operator));
  const pages = Object.keys(FILES).filter((file) => file.endsWith('.html'));
  const puts = () => putKeys(world).filter((key) => !key.endsWith('/snapshot.json'));
  expect(puts().sort()).toEqual(pages.map(keyOf).sort());
  const said =
    '<p class="operator" data-states="name contact licence"><span>Operated by &lt;b&gt;Märkte &amp; Co</span> ' +
    '<span>Contact: <a href="mailto:desk@grain.example">desk@grain.example</a></span> ' +
    '<span>Data licence: <a href="https://grain.example/terms?a&amp;b">grain.example/terms?a&amp;b</a></span></p>';
  expect(shown(world)['index.html']).toBe(`<p>1</p>${said} ${said}`);
  world.objects.resetCounts();
  await publishSite(world, withOperator(built, operator));
  expect(puts()).toEqual([]);
});

test('the documentation has the base URLs of the service in its commands, where they are known', async () => {
  const command = `curl '${READ_HOST}/a' '${WRITE_HOST}/b'`;
  const built = site({ 'docs/index.html': command, 'index.html': command });
  const at = async (read: string | null, write: string | null) =>
    await withHosts(built, read, write).read('docs/index.html');
  expect(await at('https://a.example/', 'https://b.example/v&w')).toBe(
    "curl 'https://a.example/a' 'https://b.example/v&amp;w/b'",
  );
  expect(await at(null, 'https://b.example')).toBe(command);
  const known = withHosts(built, 'https://a.example', 'https://b.example');
  expect(await known.read('index.html')).toBe(command);
  const changed = Object.keys(built.files).filter((file) => built.files[file] !== known.files[file]);
  expect(changed.sort()).toEqual(['docs/guides/log.html', 'docs/index.html']);
});

test('all files are public from the first generation on, and pages come after what they load', async () => {
  const world = createWorld();
  await publishSite(world, site());
  expect(shown(world)).toEqual(FILES);
  const keys = putKeys(world).filter((key) => parsePublicKey(key)?.kind.startsWith('site-'));
  expect(keys.slice(-2).sort()).toEqual([keyOf('docs/guides/log.html'), keyOf('index.html')]);
  for (const file of Object.keys(FILES)) {
    const { metadata } = (await world.objects.stat(keyOf(file))) ?? {};
    expect(metadata).toEqual(publicMetadata(siteObject(file), 1));
  }
});

test('a release puts the files that it changes, and nothing twice', async () => {
  const world = await publishedWorld();
  expect(await publishSite(world, NEXT)).toMatchObject({ kind: 'published', generation: 2 });
  expect(putKeys(world)).toEqual([keyOf('assets/explorer.js'), keyOf('docs/new.html'), 'public/api/v1/snapshot.json']);
  const read = () => Promise.reject(new Error('no file is read again'));
  expect(await publishSite(world, { ...NEXT, read })).toMatchObject({ kind: 'unchanged' });
});

test('the sweep removes files that the release no longer has, and no other; not while it knows of no site', async () => {
  const world = await publishedWorld();
  await publishSite(world, NEXT);
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
  // The first page is made with a list, which leaves the layout of the one before.
  const sweep = async () => {
    const { removed } = await collectGarbage(world.dependencies, { dryRun: false });
    return removed.filter((key) => key.startsWith('public/'));
  };
  const known = await world.ledger.get(PUBLISHED_SITE_KEY);
  await world.ledger.transact([{ kind: 'delete', key: PUBLISHED_SITE_KEY, if: { kind: 'any' } }], {
    attemptId: 'lost',
  });
  expect(await sweep()).toEqual([]);
  const record = { kind: 'put', key: PUBLISHED_SITE_KEY, revision: 2, value: known?.value ?? null } as const;
  await world.ledger.transact([{ ...record, if: { kind: 'any' } }], { attemptId: 'found' });
  expect(await sweep()).toEqual([keyOf('robots.txt')]);
  expect(await sweep()).toEqual([]);
  expect(Object.keys(shown(world))).toHaveLength(Object.keys(NEXT.files).length);
});

test('a file that a later release has again while the sweep runs is not removed', async () => {
  const world = await publishedWorld();
  await publishSite(world, NEXT);
  world.clock.nowMs += PAGE_RETENTION_SECONDS * 1000 + 1;
  const { objects } = world;
  const returning: typeof objects.stat = async (key) => {
    if (key === keyOf('robots.txt')) await publishSite(world, site());
    return await objects.stat(key);
  };
  const racing = new Proxy(objects, {
    get: (target, name) => (name === 'stat' ? returning : Reflect.get(target, name)),
  });
  await collectGarbage({ ...world.dependencies, objects: racing }, { dryRun: false });
  expect(shown(world)['robots.txt']).toBe(FILES['robots.txt']);
});

test.each(['secret.key', '../x.html', 'x.map', '.html'])('a build with %j is refused', (file) => {
  expect(() => siteOf(new Map([[file, '']]))).toThrow(RangeError);
});
