/** Which objects of the copy a reader can still be led to. */

import { RATES_KEPT_DAYS } from '../../contract/files/compat-limits.ts';
import { exportManifestSchema } from '../../contract/files/export-manifest.ts';
import { EXPORT_KEPT_DAYS } from '../../contract/files/export-tables.ts';
import type { Projection } from '../../contract/files/projections.ts';
import {
  HISTORY_FILE_KINDS,
  type PublicObjectKind,
  type PublicObjectName,
} from '../../contract/files/public-object-names.ts';
import { LOG_ROOT, PUBLIC_PREFIX, parsePublicKey, publicKey, publicPath } from '../../contract/files/public-objects.ts';
import { EXPORT_ROOT, EXPORTS_URL } from '../../contract/files/routes.ts';
import { parseTilePath, TILE_WIDTH, widthOfTile } from '../../contract/log/tiles.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';
import type { PublishedSite } from '../../storage/records/publication.ts';
import { copiedSnapshot } from './copied-snapshot.ts';
import type { MirrorCopy } from './copy.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

const OF_RATES = /^currency-api\/(\d[\d-]*)\//;

const dayBefore = (nowMs: number, days: number) => new Date(nowMs - days * DAY_MS).toISOString().slice(0, 10);

/** Kinds that go when the service switches them off. */
const SWITCHED: { readonly [Name in Projection]?: readonly PublicObjectKind[] } = {
  'history-files': HISTORY_FILE_KINDS,
  compat: ['compat-json', 'compat-text'],
  latest: ['latest', 'latest-csv'],
  recent: ['recent'],
};

export interface ReachOptions {
  /** Markets that the service does not have any more. */
  readonly lost: ReadonlySet<string>;
  /** The sizes of the log whose partial tiles are in use. */
  readonly logSizes: readonly number[];
  /** By their paths in the built site. Default: none. */
  readonly siteFiles?: Readonly<PublishedSite>;
  readonly nowMs: number;
}

export class CopyReach {
  readonly #copy: MirrorCopy;
  readonly #options: ReachOptions;
  readonly #exported: ReadonlySet<string>;
  readonly #switchedOff: ReadonlySet<PublicObjectKind>;
  /** Pages come slug by slug, so that the pages of one market are in memory. */
  #chain: { readonly owner: string; readonly cursors: ReadonlySet<string> } | null = null;

  private constructor(
    copy: MirrorCopy,
    options: ReachOptions,
    exported: ReadonlySet<string>,
    switchedOff: ReadonlySet<PublicObjectKind>,
  ) {
    this.#copy = copy;
    this.#options = options;
    this.#exported = exported;
    this.#switchedOff = switchedOff;
  }

  static async open(copy: MirrorCopy, options: ReachOptions): Promise<CopyReach> {
    return new CopyReach(copy, options, await exportedKeys(copy, options.nowMs), await kindsSwitchedOff(copy));
  }

  async has(name: PublicObjectName): Promise<boolean> {
    const { lost, logSizes } = this.#options;
    if ('tile' in name) return isTileReached(name, logSizes);
    if (name.kind.startsWith('site-'))
      return Object.hasOwn(this.#options.siteFiles ?? {}, 'file' in name ? name.file : '');
    if (name.kind.startsWith('export-')) return this.#exported.has(publicKey(name));
    if ('cursor' in name)
      return (await this.#cursorsOf(name.kind === 'history-page' ? name.slug : null)).has(name.cursor);
    const madeOn = name.kind === 'compat-json' ? OF_RATES.exec(name.file)?.[1] : undefined;
    if (madeOn !== undefined && madeOn < dayBefore(this.#options.nowMs, RATES_KEPT_DAYS)) return false;
    return !this.#switchedOff.has(name.kind) && !('slug' in name && lost.has(name.slug));
  }

  /** @param slug null: of the list */
  async #cursorsOf(slug: string | null): Promise<ReadonlySet<string>> {
    const owner = slug ?? '';
    if (this.#chain?.owner === owner) return this.#chain.cursors;
    const head: PublicObjectName = slug === null ? { kind: 'market-list' } : { kind: 'history', slug };
    const cursors = new Set<string>();
    await followChain(this.#copy, head, cursors);
    this.#chain = { owner, cursors };
    return cursors;
  }
}

/** All keys with this prefix, in order. */
export async function* copiedKeys({ objects }: MirrorCopy, prefix: string): AsyncGenerator<string> {
  for (let after: string | null = ''; after !== null; ) {
    const page: Awaited<ReturnType<typeof objects.list>> = await objects.list(prefix, { after });
    yield* page.keys;
    after = page.next;
  }
}

/** Slugs of the markets that the copy has, without removed ones. */
export async function copiedMarkets(copy: MirrorCopy): Promise<readonly string[]> {
  const slugs: string[] = [];
  const prefix = publicKey({ kind: 'market', slug: 'a' }).replace(/[^/]*$/, '');
  for await (const key of copiedKeys(copy, prefix)) {
    const name = parsePublicKey(key);
    if (name?.kind !== 'market') continue;
    const head = await copy.head(name);
    if (head !== null && statusOfObject(head.metadata.contentType) === 200) slugs.push(name.slug);
  }
  return slugs;
}

/** Whether all pages after the head of a history are there. */
export async function isWhole(copy: MirrorCopy, slug: string): Promise<boolean> {
  return await followChain(copy, { kind: 'history', slug }, new Set());
}

/** Adds the pages after a head, by the metadata of their files. False: one is missing. */
async function followChain(copy: MirrorCopy, head: PublicObjectName, cursors: Set<string>): Promise<boolean> {
  const first = await copy.head(head);
  for (let cursor = first?.metadata.nextCursor ?? null; cursor !== null; ) {
    // A page that another head leads to leads on to the same pages.
    if (cursors.has(cursor)) return true;
    cursors.add(cursor);
    const next = await copy.head(
      'slug' in head ? { kind: 'history-page', slug: head.slug, cursor } : { kind: 'market-list-page', cursor },
    );
    if (next === null) return false;
    cursor = next.metadata.nextCursor;
  }
  return true;
}

function isTileReached(name: Extract<PublicObjectName, { readonly tile: string }>, sizes: readonly number[]): boolean {
  const tile = parseTilePath(publicPath(name).slice(LOG_ROOT.length + 1));
  if (tile === null) return false;
  const level = typeof tile.level === 'number' ? tile.level : 0;
  return tile.width === TILE_WIDTH || sizes.some((size) => widthOfTile(level, tile.n, size) === tile.width);
}

/** The manifests of the last weeks and of kept exports, the newest one of them, and the files that they name. */
async function exportedKeys(copy: MirrorCopy, nowMs: number): Promise<ReadonlySet<string>> {
  const firstDay = dayBefore(nowMs, EXPORT_KEPT_DAYS);
  const kept = await keptDays(copy);
  const keys = new Set<string>();
  for await (const key of copiedKeys(copy, PUBLIC_PREFIX + EXPORT_ROOT)) {
    const name = parsePublicKey(key);
    if (name?.kind !== 'export-package' || (name.date < firstDay && !kept.includes(name.date))) continue;
    for (const each of [name, { kind: 'export-dataset', date: name.date }, { kind: 'export-latest' }] as const) {
      keys.add(publicKey(each));
    }
    const { body } = await copy.reader(publicPath(name));
    const { resources } = exportManifestSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
    for (const { path, schema } of resources) {
      for (const file of [path, schema]) keys.add(PUBLIC_PREFIX + EXPORT_ROOT + file);
    }
  }
  return keys;
}

/** The days of exports that the operator of the service keeps, by the newest manifest of the copy. */
export async function keptDays(copy: MirrorCopy): Promise<readonly string[]> {
  const { status, body } = await copy.reader(EXPORTS_URL);
  if (status !== 200) return [];
  const { kept = [] } = exportManifestSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  return kept.map(({ date }) => date);
}

async function kindsSwitchedOff(copy: MirrorCopy): Promise<ReadonlySet<PublicObjectKind>> {
  const snapshot = await copiedSnapshot(copy);
  if (snapshot === null) return new Set();
  const { projections = [] } = snapshot.value;
  const isOff = (name: string) => !(projections as readonly string[]).includes(name);
  return new Set(Object.entries(SWITCHED).flatMap(([name, kinds]) => (isOff(name) ? kinds : [])));
}
