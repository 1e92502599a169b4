/** Applying a committed generation: from its bundle alone, so that the first try and every recovery are one path. */
import pMap from 'p-map';
import { type PublicObjectKind, parsePublicKey, STATIC_KINDS } from '../../contract/public-objects.ts';
import { type Change, MAX_TRANSACT_CHANGES } from '../../storage/ledger.ts';
import type { ObjectRef } from '../../storage/records/publication.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { OBJECT_CONCURRENCY, type PublisherStorage } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { type BundleLine, readBundle } from './bundle.ts';
import { fencedPut } from './fenced-put.ts';
import { type Head, markApplied, supersededIfMoved } from './swap-head.ts';

/**
 * Bottom-up: what a link leads to is put before what links to it. So a reader who follows links never arrives at something
 * older than where it came from, whenever it looks and wherever this is interrupted. Nothing public is deleted: what no link
 * leads to any more is left to the sweep (sweep/collect-garbage.ts).
 */
const PUT_ORDER: readonly PublicObjectKind[] = [...STATIC_KINDS, 'history', 'market', 'market-list', 'snapshot'];

/**
 * Puts every body of the generation that HEAD names, records what is published, marks it applied, and removes its bundle: from
 * here on nobody needs it. Returns HEAD as it is then. Every step may be done again, by this process or another.
 *
 * @throws Superseded when another publisher has applied it, or committed a newer one, meanwhile.
 * @throws StorageCorrupt when a newer generation is found in place that the ledger does not know of.
 * @throws BundleLost when the bundle is gone or damaged, and the generation is not applied.
 */
export async function applyGeneration(storage: PublisherStorage, head: Head): Promise<Head> {
  const { generation, bundle } = head.value;
  const parts: ObjectRef[] = [];
  try {
    for await (const { ref, lines } of readBundle(storage.objects, bundle)) {
      await applyPart(storage, generation, lines);
      parts.push(ref);
    }
  } catch (error) {
    // Once somebody else has applied it, the bundle goes, and what is in place may be of a newer generation.
    throw await supersededIfMoved(storage.ledger, head, error);
  }
  const applied = await markApplied(storage, head);
  await removeBundle(storage, parts);
  return applied;
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

/** What a crash leaves of it is swept. */
async function removeBundle({ objects }: PublisherStorage, parts: readonly ObjectRef[]): Promise<void> {
  for (const { key } of parts) {
    const present = await objects.stat(key);
    if (present !== null) await objects.delete(key, present.etag);
  }
}
