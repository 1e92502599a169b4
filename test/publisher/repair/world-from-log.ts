/** Worlds whose ledger is begun from the log of a lost one. */
import { ALL_PROJECTIONS } from '../../../contract/files/projections.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { takeOverStore } from '../../../publisher/repair/from-log/known-pages.ts';
import { type FromLogOptions, ledgerFromLog } from '../../../publisher/repair/from-log/ledger-from-log.ts';
import { openSqliteLedger } from '../../../storage/sqlite/sqlite-ledger.ts';
import { Random } from '../../simulator/random.ts';
import type { MemoryObjects } from '../../storage/memory-objects.ts';
import { testSigner, withLog } from '../log/test-log.ts';
import { removeMarket } from '../remove-market.ts';
import { setStanding } from '../standing.ts';
import { takeDown } from '../take-down.ts';
import { createWorld, market, price, retraction, type World, worldOn } from '../world.ts';

export function loggedWorld(): World {
  const world = createWorld();
  return world.with({ ...withLog(world.dependencies), projections: ALL_PROJECTIONS });
}

/** For every other step. */
const reasonOf = (step: number) => (step % 2 === 0 ? {} : { publicReason: `For a reason: ${step}.` });

/** Everything that can happen to a market, in an order that the seed decides. */
export async function livedWorld(seed: number): Promise<World> {
  const generator = new Random(seed);
  const random = () => generator.unit();
  const world = loggedWorld();
  const pick = <Value>(values: readonly Value[]): Value => generator.pick(values);
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const left = new Set(slugs);
  const source = { publisher: 'P', licence: 'CC0-1.0', attribution: null };
  await world.ingest(slugs.map((slug) => market(slug)));
  await world.ingest(slugs.flatMap((slug) => [0, 1, 2].map((day) => price(slug, day, 100 + day))));
  await world.publishAll();
  const happen = async (slug: string, step: number): Promise<void> => {
    const day = Math.floor(random() * 900) - 640;
    const at = price(slug, day, Math.floor(random() * 1e6)) as IngestRecordInput & { observedAt: string };
    const kind = Math.floor(random() * 11);
    if (kind < 4) await world.ingest([at, price(slug, day + 1, random() < 0.2 ? null : day)], 'correct');
    else if (kind === 4) {
      const correction = price(slug, pick([0, 1, 2]), Math.floor(random() * 1e6));
      await world.ingest([{ ...correction, ...reasonOf(step) } as IngestRecordInput], 'correct');
    } else if (kind === 5) {
      await world.ingest([retraction(price(slug, pick([0, 1, 2]), 1), reasonOf(step))], 'correct');
    } else if (kind === 6) {
      const sources = [`s${step}`, 'two'].map((label) => ({ label, url: `https://example.com/${label}`, ...source }));
      const outliers = random() < 0.5 ? {} : { outliers: 'off', outliersReason: 'it leaps' };
      const mode = {
        value: `mode ${step % 2}`,
        sourceLabel: 's',
        sourceUrl: 'https://example.com/',
        observedAt: '2026-09-30T08:00:00Z',
      };
      const attributes = random() < 0.5 ? {} : { attributes: { mode } };
      const definition = { ...market(slug), name: `Named ${step}`, sources, ...outliers, ...attributes };
      await world.ingest([definition as IngestRecordInput]);
    } else if (kind === 7) {
      const salt = 'ab'.repeat(32);
      const representedBy = random() < 0.5 ? null : { name: `Council ${step}`, claim: 'clm_1', salt };
      const disputes: { [metric: string]: string } = random() < 0.5 ? { price: 'clm_2' } : {};
      const comparison = { outcome: 'mismatch', verifiedAt: '2026-09-30T08:00:00Z', verification: 'ver_1' } as const;
      const comparisons = random() < 0.5 ? {} : { price: comparison };
      const verification = { outcome: 'moved', subject: 'source', verifiedAt: '2026-09-30T08:00:00Z' } as const;
      const verifications = { [`https://example.com/${pick(['two', slug])}`]: verification };
      const standing = { representedBy, disputes, comparisons, verifications };
      await setStanding(world.ledger, slug, standing, `standing-${seed}-${step}`);
    } else if (kind === 8 && left.size > 4) {
      await removeMarket(world, slug, random() < 0.5 ? null : pick(slugs));
      left.delete(slug);
    } else if (kind === 9) await world.ingest([market(`new-${step}`), price(`new-${step}`, day, 5)]);
    else await world.ingest([{ ...at, sourceUrl: 'https://example.com/other' } as IngestRecordInput], 'correct');
  };
  for (let step = 0; step < 40; step++) {
    await happen(pick([...left]), step);
    world.clock.nowMs += 1_000 * Math.floor(random() * 1_000);
    if (random() < 0.4) await world.publishAll();
  }
  await world.publishAll();
  const gone = slugs.find((slug) => !left.has(slug));
  if (gone !== undefined && random() < 0.6) await takeDown(world, gone);
  await world.publishAll();
  return world;
}

export const OWN_KEY = testSigner();

/** A world that knows nothing but the published files of another one. */
export async function begun(
  lost: World,
  objects: MemoryObjects,
  { isStoreLater = false, ...options }: Partial<FromLogOptions> & { readonly isStoreLater?: boolean } = {},
): Promise<World & { readonly outcome: Awaited<ReturnType<typeof ledgerFromLog>> }> {
  const ledger = openSqliteLedger(':memory:');
  const clock = { nowMs: lost.clock.nowMs };
  const dependencies = { ...lost.dependencies, ledger, objects, nowMs: () => clock.nowMs };
  const world = worldOn({ ledger, objects, clock }, dependencies);
  const outcome = await ledgerFromLog({ storage: world.dependencies, reader: lost.read, keys: [OWN_KEY], ...options });
  if (!isStoreLater) await takeOverStore(world.dependencies);
  return { ...world, outcome };
}

export async function copyOf(objects: MemoryObjects): Promise<MemoryObjects> {
  return objects.copy();
}

export async function noteOf({ objects }: World): Promise<Uint8Array | null> {
  const found = await objects.get(publicKey({ kind: 'log-checkpoint' }));
  return found.kind === 'found' ? found.body : null;
}
