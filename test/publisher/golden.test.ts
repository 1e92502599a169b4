/**
 * Every kind of stored object, to the byte. `UPDATE_GOLDEN=1` writes the files again: read the difference before you
 * commit it, because readers, caches and cursors see it.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import type { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { type PublicObjectKind, parsePublicKey } from '../../contract/files/public-objects.ts';
import { REDO_PREFIX } from '../../publisher/kernel/bundle.ts';
import { openDirectoryObjects } from '../../storage/directory/directory-objects.ts';
import { openSqliteLedger } from '../../storage/sqlite/sqlite-ledger.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { type Golden, memoryStores, publishGoldenInput } from './golden-input.ts';

const FOLDER = new URL('golden/', import.meta.url);
const CHILD = fileURLToPath(new URL('golden-input.ts', import.meta.url));

let published: Map<string, Golden>;

beforeAll(async () => {
  published = await publishGoldenInput(memoryStores());
});

/** The kinds of a projection, or of a built site: tests of them hold their bytes. Every other kind has a golden file. */
type ProjectionKind =
  | (typeof HISTORY_FILE_KINDS)[number]
  | `${'badge' | 'compat-' | 'embed' | 'export-' | 'feed' | 'incidents' | 'latest' | 'log-' | 'market-feed'}${string}`
  | `${'market-page' | 'modified' | 'recent' | 'releases' | 'site-' | 'sources'}${string}`;
type BodyKind = Exclude<PublicObjectKind, ProjectionKind>;
type GoldenKind = BodyKind | 'bundle' | 'layout';

/** By kind, in order of key. There are several markets, and several pages of the list and of a history. */
function keysOf(kind: GoldenKind): readonly string[] {
  const kindOf = (key: string) => parsePublicKey(key)?.kind ?? (key.startsWith(REDO_PREFIX) ? 'bundle' : 'layout');
  return [...published.keys()].filter((key) => kindOf(key) === kind);
}

/** For each kind, the object with the most variety, or the first. */
const CHOSEN: { readonly [Kind in GoldenKind]: (keys: readonly string[]) => string | undefined } = {
  'market-list': ([key]) => key,
  'market-list-page': ([key]) => key,
  market: (keys) => keys.find((key) => key.endsWith('/wti.json')),
  history: (keys) => keys.find((key) => key.endsWith('/wti.json')),
  // With an observation and its correction.
  'history-page': (keys) => keys.find((key) => published.get(key)?.body.includes('-3763')),
  snapshot: ([key]) => key,
  'not-found': ([key]) => key,
  problems: ([key]) => key,
  waitlist: ([key]) => key,
  openapi: ([key]) => key,
  // The second generation changes one market.
  bundle: (keys) => keys.find((key) => key.startsWith('redo/2-')),
  layout: (keys) => keys.find((key) => key.startsWith('layout/2-')),
};

test.each(Object.keys(CHOSEN) as GoldenKind[])('key, metadata and bytes of a %s', (kind) => {
  const key = CHOSEN[kind](keysOf(kind)) as string;
  const found = { key, ...published.get(key) };
  const file = new URL(`${kind}.json`, FOLDER);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, `${JSON.stringify(found, null, 2)}\n`);
  expect(found).toEqual(JSON.parse(readFileSync(file, 'utf8')));
});

describe('the same input gives the same bytes', () => {
  /** Without bundles: they hold sums of histories, which depend on revisions, and so on the batches. */
  const withoutBundles = (all: ReadonlyMap<string, Golden>) =>
    new Map([...all].filter(([key]) => !key.startsWith(REDO_PREFIX)));

  test.each([1, 2, 3])('in any order and in any batches (seed %i)', async (seed) => {
    expect(withoutBundles(await publishGoldenInput(memoryStores(), seed))).toEqual(withoutBundles(published));
  });

  test.each([
    { TZ: 'Asia/Kathmandu', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8', seed: '11' },
    { TZ: 'America/St_Johns', LANG: 'C', LC_ALL: 'C', seed: '12' },
  ])('in another process, with TZ=$TZ and LANG=$LANG', async ({ seed, ...environment }) => {
    const { stdout } = await promisify(execFile)(process.execPath, [CHILD, seed], {
      env: { ...process.env, ...environment },
      maxBuffer: 16 * 1024 * 1024,
    });
    const all = new Map(JSON.parse(stdout) as [string, Golden][]);
    expect(withoutBundles(all)).toEqual(withoutBundles(published));
  });

  test.each([0, 21])('with files that are closed and opened again after every step (seed %i)', async (seed) => {
    const folder = await temporaryFolder();
    const open = async () => {
      const ledger = openSqliteLedger(join(folder, 'ledger.sqlite'));
      return { ledger, objects: await openDirectoryObjects(folder), close: () => ledger.close() };
    };
    expect(withoutBundles(await publishGoldenInput(open, seed))).toEqual(withoutBundles(published));
  });
});
