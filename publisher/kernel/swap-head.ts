/** HEAD, which names the published generation. Only this file changes it. */
import { created } from '../../storage/ports/changes.ts';
import type { Change, Condition, Item, Ledger } from '../../storage/ports/ledger.ts';
import { workKey } from '../../storage/records/batches.ts';
import {
  type GenerationValue,
  generationKey,
  HEAD_KEY,
  type HeadValue,
  type ObjectRef,
} from '../../storage/records/publication.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { Superseded } from '../errors.ts';

export type Head = Item<HeadValue>;

interface NextHead {
  readonly head: Omit<HeadValue, 'bundle'>;
  readonly asksForRefresh: boolean;
}

/**
 * The one transaction that commits a generation.
 *
 * @throws {@link Superseded} if HEAD is no longer the one on which the plan is based
 */
export async function swapHead(
  storage: PublisherStorage,
  before: Head | null,
  { head, asksForRefresh }: NextHead,
  bundle: ObjectRef,
): Promise<Head> {
  const condition = before === null ? ABSENT : ({ kind: 'revision-is', revision: before.revision } as const);
  const more = asksForRefresh ? [refreshOfAll(head.generation)] : [];
  return await putHead(storage, { ...head, bundle }, condition, null, more);
}

/** Work for the worker: it sets the refresh mark of every market. */
function refreshOfAll(generation: number): Change {
  const id = `refresh-${generation}`;
  return created(workKey(id), {
    kind: 'refresh',
    markets: null,
    after: '',
    publication: null,
    lane: id,
    lease: null,
  });
}

/**
 * Records that the generation of HEAD is applied, so recovery has nothing left to do. The generation stays the same.
 *
 * @throws {@link Superseded} if HEAD has moved on
 */
export async function markApplied(storage: PublisherStorage, head: Head, counts = head.value.counts): Promise<Head> {
  const condition = { kind: 'revision-is', revision: head.revision } as const;
  return await putHead(storage, { ...head.value, applied: true, counts }, condition, storage.nowMs());
}

/** Whether HEAD was raised to this generation, which has no bodies of its own. */
export function isRaised({ bundle }: Pick<HeadValue, 'bundle'>): boolean {
  return bundle.key === '';
}

/**
 * Raises HEAD to a generation without bodies of its own. The next generation renders everything again.
 *
 * @throws {@link Superseded} if HEAD is not as it was read
 */
export async function raiseHead(storage: PublisherStorage, before: Head | null, value: HeadValue): Promise<Head> {
  const condition = before === null ? ABSENT : ({ kind: 'written-by', attemptId: before.attemptId } as const);
  return await putHead(storage, value, condition, storage.nowMs());
}

const ABSENT = { kind: 'absent' } as const;

async function putHead(
  { ledger, newAttemptId, keepsBundles = false }: PublisherStorage,
  value: HeadValue,
  condition: Condition,
  appliedAtMs: number | null,
  more: readonly Change[] = [],
): Promise<Head> {
  const revision = value.generation;
  const put: Change = { kind: 'put', key: HEAD_KEY, revision, value, if: condition };
  const attemptId = newAttemptId();
  const record = generationRecord(value, appliedAtMs, keepsBundles);
  const result = await ledger.transact([put, record, ...more], { attemptId });
  if (!result.committed) throw new Superseded(`another publisher has moved HEAD: generation ${revision} was given up`);
  return { ...HEAD_KEY, revision, attemptId, expiresAtMs: null, value };
}

function generationRecord(head: HeadValue, appliedAtMs: number | null, keepsBundles: boolean): Change {
  const { generation, publishedAt, list, log, bundle } = head;
  const layout = list.generation === generation ? list.layout : null;
  const logSize = log === undefined ? {} : { logSize: log.size };
  const value: GenerationValue = {
    generation,
    publishedAt,
    appliedAtMs,
    layout,
    ...logSize,
    ...(keepsBundles && { bundle }),
  };
  return { kind: 'put', key: generationKey(generation), revision: generation, value, if: { kind: 'any' } };
}

/** @throws {@link Superseded} if HEAD is of another generation now */
export async function assertStillHead(ledger: Ledger, { revision }: Pick<Head, 'revision'>): Promise<void> {
  if ((await ledger.get(HEAD_KEY))?.revision !== revision) {
    throw new Superseded('another publisher has committed a generation meanwhile');
  }
}

/** Another publisher's newer generation may be the cause of a fault. Returns {@link Superseded} in that case, else the fault. */
export async function supersededIfMoved(
  ledger: Ledger,
  before: Pick<Item, 'attemptId'> | null,
  error: unknown,
): Promise<unknown> {
  let now: Head | null;
  try {
    now = await ledger.get(HEAD_KEY);
  } catch (fault) {
    // HEAD cannot be read, so nothing proves that data is corrupt: report the failed read instead.
    return fault;
  }
  if (now?.attemptId === before?.attemptId) return error;
  return new Superseded('another publisher has committed or applied a generation meanwhile', { cause: error });
}
