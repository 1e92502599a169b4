/** Applying a committed generation: from its bundle alone, so that the first try and every recovery are one path. */
import pMap from 'p-map';
import { type PublicObjectKind, parsePublicKey, STATIC_KINDS } from '../contract/public-objects.ts';
import { type Change, type Item, type Ledger, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { type GenerationValue, generationKey, HEAD_KEY, type HeadValue } from '../storage/records/publication.ts';
import { type BundleLine, readBundle } from './bundle.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from './dependencies.ts';
import { Superseded } from './errors.ts';
import { fencedPut } from './fenced-head.ts';

/**
 * Bottom-up: what a link leads to is put before what links to it. So a reader who follows links never arrives at something
 * older than where it came from, whenever it looks and wherever this is interrupted. Nothing is deleted: what no link
 * leads to any more is the sweep's (collect-garbage.ts).
 */
const PUT_ORDER: readonly PublicObjectKind[] = [...STATIC_KINDS, 'history', 'market', 'market-list', 'snapshot'];

/**
 * Puts every body of the generation that HEAD names and records what is published. Every step may be done again, by
 * this process or another. Throws {@link Superseded} when a newer generation has been committed meanwhile, and
 * `StorageCorrupt` when one is found in place that the ledger does not know of.
 */
export async function applyGeneration(storage: PublisherStorage, head: Item): Promise<void> {
  const value = head.value as HeadValue;
  const bundle = { key: value.bundleKey, digest: value.bundleDigest };
  await applyParts(storage, value.generation, readBundle(storage.objects, bundle));
  await markApplied(storage, value);
}

/** Applies some parts of a committed generation's bundle, in the order in which they come. */
export async function applyParts(
  storage: PublisherStorage,
  generation: number,
  parts: AsyncIterable<readonly BundleLine[]>,
): Promise<void> {
  try {
    for await (const lines of parts) await applyPart(storage, generation, lines);
  } catch (error) {
    // Once a newer generation is applied, the sweep may take the bundle away from under a slow publisher, and what is in
    // place may be that one's.
    throw await supersededIfMoved(storage.ledger, { revision: generation }, error);
  }
}

/** What cannot be true of the generation that was worked on may be true of a newer one that came in between. */
export async function supersededIfMoved(
  ledger: Ledger,
  head: Pick<Item, 'revision'> | null,
  error: unknown,
): Promise<unknown> {
  let now: Item | null;
  try {
    now = await ledger.get(HEAD_KEY);
  } catch (fault) {
    // Who cannot tell must not say that storage is corrupt: a store may be emptied on that word.
    return fault;
  }
  if (now?.revision === head?.revision) return error;
  return new Superseded('another publisher has committed a newer generation meanwhile', { cause: error });
}

async function applyPart(
  { ledger, objects, newAttemptId }: PublisherStorage,
  generation: number,
  lines: readonly BundleLine[],
): Promise<void> {
  const concurrency = OBJECT_CONCURRENCY;
  const puts = lines.filter((line) => line.kind === 'put');
  for (const kind of PUT_ORDER) {
    const ofKind = puts.filter((line) => parsePublicKey(line.key)?.kind === kind);
    await pMap(ofKind, (line) => fencedPut(objects, generation, line.key, line.body, line.nextCursor), { concurrency });
  }

  const records = lines.filter((line) => line.kind === 'record');
  // Each batch checks HEAD, so that a batch that lands late cannot write over the records of a newer generation.
  const guard: Change = { kind: 'check', key: HEAD_KEY, if: { kind: 'revision-is', revision: generation } };
  for (let start = 0; start < records.length; start += MAX_TRANSACT_CHANGES - 1) {
    const batch = records.slice(start, start + MAX_TRANSACT_CHANGES - 1).map((line) => recordChange(line, generation));
    const result = await ledger.transact([guard, ...batch], { attemptId: newAttemptId() });
    if (!result.committed) throw new Superseded(`HEAD has moved on from generation ${generation}`);
  }
}

function recordChange(line: Extract<BundleLine, { kind: 'record' }>, generation: number): Change {
  const any = { kind: 'any' } as const;
  return line.value === null
    ? { kind: 'delete', key: line.key, if: any }
    : { kind: 'put', key: line.key, revision: generation, value: line.value, if: any };
}

/** HEAD stays at its generation: this only says that recovery has nothing left to do. */
export async function markApplied({ ledger, nowMs, newAttemptId }: PublisherStorage, head: HeadValue): Promise<void> {
  const { generation, publishedAt, bundleKey } = head;
  const record: GenerationValue = { generation, publishedAt, bundleKey, appliedAtMs: nowMs() };
  const result = await ledger.transact(
    [
      {
        kind: 'put',
        key: HEAD_KEY,
        revision: generation,
        value: { ...head, applied: true },
        if: { kind: 'revision-is', revision: generation },
      },
      { kind: 'put', key: generationKey(generation), revision: generation, value: record, if: { kind: 'any' } },
    ],
    { attemptId: newAttemptId() },
  );
  if (!result.committed) throw new Superseded(`HEAD has moved on from generation ${generation}`);
}
