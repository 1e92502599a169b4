/** The beginning of most worlds: a few published markets. Made once, by the code under test, without the scheduler. */
import { PROJECTIONS, type Projection } from '../../contract/files/projections.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { openMemoryUploads } from '../storage/memory-uploads.ts';
import { LedgerItems } from './ledger-items.ts';
import { definition, type Expected, KNOWN_SLUGS, Writer } from './model.ts';
import { AtOnce, BYSTANDER, CALM } from './processes.ts';
import { Random } from './random.ts';
import { SimulatedLedger } from './simulated-ledger.ts';
import { type ObjectEntries, objectsPortOf } from './simulated-objects.ts';
import { type Host, PLAIN, requestOf, type Settings, START_MS, WIRING } from './wiring.ts';

export interface BaseWorld {
  readonly items: LedgerItems;
  readonly objects: ObjectEntries;
  readonly expected: Expected;
}

const NO_WITNESS = { put: () => undefined, deleted: () => undefined };

/** Does operations at once, without the scheduler. */
export function hostAtOnce(items: LedgerItems, objects: ObjectEntries, name: string, settings = PLAIN): Host {
  const random = new Random(1);
  const atOnce = new AtOnce();
  let attempts = 0;
  const nowMs = () => START_MS;
  return {
    ledger: new SimulatedLedger(items, atOnce, CALM, random, () => undefined).portOf(BYSTANDER),
    objects: objectsPortOf(objects, atOnce, NO_WITNESS, BYSTANDER),
    uploads: openMemoryUploads(nowMs),
    settings,
    nowMs,
    newAttemptId: () => `${name}-${++attempts}`,
    newId: (prefix) => `${prefix}_${newUlid(START_MS, (count) => random.bytes(count))}`,
    random: () => random.unit(),
    randomBytes: (count) => random.bytes(count),
    pause: async () => undefined,
  };
}

export function emptyWorld(): BaseWorld {
  return { items: new LedgerItems(), objects: new Map(), expected: new Map() };
}

/** The markets are defined, but not published. */
export async function definedWorld(): Promise<BaseWorld> {
  const base = emptyWorld();
  const host = hostAtOnce(base.items, base.objects, 'base');
  const api = WIRING.openApi(host);
  const writer = new Writer('base', new Random(1), base.expected);
  const batches = [
    { mode: 'append', partial: false, records: KNOWN_SLUGS.map(definition) },
    ...KNOWN_SLUGS.map((slug, index) => writer.rows(slug, [9, 4, 3, 1, 0][index] as number)),
  ];
  for (const [index, { mode, partial, records }] of batches.entries()) {
    if (records.length === 0) continue;
    const body = { mode, partial, records };
    const answer = await api(requestOf('/api/v1/ingest/batches', 'base', `base-key-${1_000 + index}`, body));
    if (answer.statusCode >= 300) throw new Error(`the base world's own batch was refused: ${answer.body}`);
    // The clock does not advance, so the order of several markets would be random.
    await WIRING.work(host, () => true, rethrow);
  }
  return base;
}

function rethrow(error: unknown): never {
  throw error;
}

/** By their projections. */
const published = new Map<string, Promise<BaseWorld>>();
let defined: Promise<BaseWorld> | null = null;

/** Shared by all worlds: copy it, do not change it. A base without a log is published with one. */
export function baseWorld(isPublished: boolean, projections: readonly Projection[] = []): Promise<BaseWorld> {
  defined ??= definedWorld();
  if (!isPublished) return defined;
  const settings = {
    ...PLAIN,
    projections: PROJECTIONS.filter((name) => name === 'log' || projections.includes(name)),
  };
  const name = settings.projections.join();
  const known = published.get(name) ?? defined.then((base) => publishedFrom(base, settings));
  published.set(name, known);
  return known;
}

async function publishedFrom({ items, expected }: BaseWorld, settings: Settings): Promise<BaseWorld> {
  const base = { items: items.copy(), objects: new Map(), expected };
  const host = hostAtOnce(base.items, base.objects, 'base-publisher', settings);
  while ((await WIRING.publish(host)) === 'more');
  return base;
}
