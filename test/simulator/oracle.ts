/**
 * The checks at the end of a world: nothing is due, `verify` finds nothing, each acknowledged write is public exactly
 * once, and the public bytes equal those of an undisturbed publication.
 *
 * The undisturbed publication is made from the final ledger into an empty store. Only four parts may differ, because they
 * depend on the number and the times of generations: cursors, which name the generation that first put their page; the
 * generation of a file with the newest values; generation and time in the snapshot; and its digest of the list, whose bytes hold a cursor.
 */

import { cursorGeneration } from '../../contract/files/cursors.ts';
import type { Projection } from '../../contract/files/projections.ts';
import { LIST_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { parsePublicKey, publicKey } from '../../contract/files/public-objects.ts';
import { packedGeneration } from '../../publisher/kernel/files/packed-object.ts';
import { faultsOfLog } from '../publisher/log/log-oracle.ts';
import { withoutGeneration } from '../publisher/without-generation.ts';
import { hostAtOnce } from './base-world.ts';
import {
  historyIn,
  isAnswered,
  isFileRecorded,
  isMarket,
  publishedIn,
  removedIn,
  withoutPublication,
} from './facts.ts';
import { versionsShown } from './model.ts';
import { bodyOf, chainOf, isFile, isFileInUse, isGone, isProjected, shownHistory } from './published.ts';
import type { ObjectEntries } from './simulated-objects.ts';
import { auditFindingsIn, findingsIn, publishAfresh } from './wiring.ts';
import type { World } from './world.ts';

export async function judge(world: World): Promise<void> {
  const { publishing, working } = world.due();
  const left = [...publishing, ...working];
  if (left.length > 0) {
    world.fail('never-settles', `left to do: ${left.join(', ')}`);
    return;
  }
  checkContent(world);
  for (const [id, { versions, isUpload = false }] of world.acknowledged) {
    const isTorn = versions.some(({ market }) => world.torn.has(market));
    if (versions.length > 0 && !isUpload && !isTorn && !world.untold.has(id) && !isAnswered(world.items, id)) {
      world.fail('never-told', `nobody was told that batch ${id} is public`);
    }
  }
  const removed = removedIn(world.items);
  for (const slug of world.removed) {
    if (!removed.includes(slug)) world.fail('lost-or-twice', `the removal of ${slug} was acknowledged, and is lost`);
  }
  // A copy, because the world's items may not be visible yet.
  const host = hostAtOnce(world.items.copy(), world.objects, 'verify', world.settings);
  const [finding] = await findingsIn(host, removed);
  if (finding !== undefined) world.fail('verify', finding);
  if (world.settings.projections.includes('log')) {
    const [fault] = await faultsOfLog(host.objects).catch((error: unknown) => [String(error)]);
    if (fault !== undefined) world.fail('log', fault);
  }
  if (!world.hasGoneBack && world.torn.size === 0) {
    const [fault] = await auditFindingsIn(host);
    if (fault !== undefined) world.fail('audit', fault);
  }
  if (world.violation !== null) return;
  await compareWithFresh(world).catch((error: unknown) => {
    world.fail('other-bytes', `an undisturbed publication of the same ledger fails: ${error}`);
  });
}

/** Each acknowledged observation, once, with all its versions. Torn markets are left out: their versions are not known. */
function checkContent(world: World): void {
  for (const [market, expected] of world.expected) {
    if (world.torn.has(market)) continue;
    const shown = versionsShown(shownHistory(world.objects, market));
    for (const identity of new Set([...expected.keys(), ...shown.keys()])) {
      const right = JSON.stringify(expected.get(identity) ?? []);
      const found = JSON.stringify(shown.get(identity) ?? []);
      if (right === found) continue;
      world.fail('lost-or-twice', `market ${market}, ${identity}: ${right} was acknowledged, ${found} is public`);
      return;
    }
  }
}

/** All other markets are published as they are in the ledger, although one market does not add up. */
export function checkOthers(world: World): void {
  for (const market of world.expected.keys()) {
    if (world.torn.has(market)) continue;
    const [found, right] = [shownHistory(world.objects, market), historyIn(world.items, market)].map((history) =>
      JSON.stringify(history.map(({ id, supersededBy }) => [id, supersededBy])),
    );
    if (found !== right)
      world.fail('stopped-by-another', `market ${market}: ${found} is public, the ledger has ${right}`);
  }
}

async function compareWithFresh(world: World): Promise<void> {
  const objects: ObjectEntries = new Map();
  const items = withoutPublication(world.items);
  const projections = world.settings.projections.filter((name) => name !== 'log');
  const settings = { ...world.settings, maxMarkedMarkets: 100, projections };
  await publishAfresh(items, hostAtOnce(items, objects, 'afresh', settings));
  const right = comparable(objects, projections);
  // A restore may have lost the market of a body. No link leads to such a body, and later it is swept.
  const found = comparable(world.objects, projections, (slug) => isMarket(world.items, slug));
  for (const key of new Set([...right.keys(), ...found.keys()])) {
    if (right.get(key) === found.get(key)) continue;
    world.fail(
      'other-bytes',
      `${key}: ${found.get(key)} is public, an undisturbed publication gives ${right.get(key)}`,
    );
    return;
  }
}

const CURSOR = /("(?:next|nextCursor|cursor)"):"[^"]*"/g;

/** The bytes of each head and of its pages, in order. */
function comparable(
  objects: ObjectEntries,
  projections: readonly Projection[],
  isMarket: (slug: string) => boolean = () => true,
): Map<string, string> {
  const texts = new Map<string, string>();
  const textOf = (body: Uint8Array) => Buffer.from(body).toString('utf8').replace(CURSOR, '$1:"…"');
  for (const [key, entry] of objects) {
    const name = parsePublicKey(key);
    // The order of the log depends on the generations.
    if (name === null || 'cursor' in name || name.kind.startsWith('log-')) continue;
    if ('slug' in name && !isMarket(name.slug)) continue;
    // A file that was switched off, or lost in a restore: later it is swept.
    if (!isFileInUse(objects, name, projections)) continue;
    if (name.kind === 'snapshot') {
      texts.set(key, JSON.stringify(bodyOf<{ counts: unknown }>(entry).counts));
      continue;
    }
    const isDated = LIST_FILE_KINDS.some((kind) => kind === name.kind);
    texts.set(key, isDated ? withoutGeneration(textOf(entry.body)) : textOf(entry.body));
    for (const [index, page] of chainOf(objects, key, entry).entries()) {
      texts.set(`${key} page ${index + 1}`, page.entry === null ? 'nothing' : textOf(page.entry.body));
    }
  }
  return texts;
}

export function checkSwept(world: World): void {
  const { objects, items } = world;
  const { generation, layout, projections, isLogDoubtful } = publishedIn(items);
  const reached = new Set<string>(layout === null ? [] : [layout]);
  for (const [key, entry] of objects) {
    const name = parsePublicKey(key);
    if (name !== null && 'tile' in name) {
      if (isLogDoubtful || world.watch.log.isTileInUse(key)) reached.add(key);
      continue;
    }
    if (name === null || 'cursor' in name || ('slug' in name && !isMarket(items, name.slug))) continue;
    // A restore has made the history of a recorded file shorter.
    const isInUse = isFileInUse(objects, name, projections) || (isFile(name.kind) && isFileRecorded(items, name));
    if (isGone(entry) ? !isProjected(name.kind, projections) : !isInUse) continue;
    reached.add(key);
    for (const page of chainOf(objects, key, entry)) reached.add(page.key);
  }
  for (const key of objects.keys()) {
    if (!reached.has(key) && !mayBeInPreparation(key, generation)) world.fail('never-swept', `${key} is still there`);
  }
  const list = publicKey({ kind: 'market-list' });
  if (!reached.has(list)) world.fail('never-swept', `${list} is gone`);
}

/**
 * A sweep cannot tell what a generation has left that was given up from what one in preparation has put. So it waits for
 * the next commit.
 */
function mayBeInPreparation(key: string, newest: number): boolean {
  const name = parsePublicKey(key);
  if (name !== null && 'cursor' in name) return cursorGeneration(name.cursor) > newest;
  return (packedGeneration(key) ?? 0) >= newest;
}
