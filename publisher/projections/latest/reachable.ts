/** Which files readers may still ask for. */
import type { LatestPart } from '../../../contract/bodies/latest.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import type { OwnedObject } from '../../kernel/projection.ts';
import { LATEST_FORMATS, partName, readIndex } from './parts.ts';
import type { LatestState } from './plan-latest.ts';

/** Those that the index names; and for the cursor lifetime, the parts that an earlier index named. */
export async function unreachableLatest(
  storage: PublisherStorage,
  objects: readonly OwnedObject[],
  state: Json | undefined,
): Promise<readonly string[]> {
  const { latest, recent, partsKeptUntilMs = 0 } = stateOf(state);
  const parts = await partsOf(storage, state);
  const named = new Set(parts?.map(({ part }) => part));
  const isReachable = (name: PublicObjectName | null): boolean => {
    if (name?.kind === 'latest') return latest !== undefined;
    if (name?.kind === 'recent') return recent !== undefined;
    if (name === null || !('part' in name)) return false;
    return parts === null || named.has(name.part) || storage.nowMs() < partsKeptUntilMs;
  };
  return objects.flatMap(({ key, name }) => (isReachable(name) ? [] : [key]));
}

export async function* publishedLatest(
  storage: PublisherStorage,
  state: Json | undefined,
): AsyncGenerator<PublicObjectName> {
  const { latest, recent } = stateOf(state);
  const parts = (await partsOf(storage, state)) ?? [];
  for (const { part } of parts) for (const format of LATEST_FORMATS) yield partName(part, format);
  if (latest !== undefined) yield { kind: 'latest' };
  if (recent !== undefined) yield { kind: 'recent' };
}

const stateOf = (state: Json | undefined): LatestState => (state ?? {}) as LatestState;

/** Null: the index is lost, or of a generation that is being applied. */
async function partsOf({ objects }: PublisherStorage, state: Json | undefined): Promise<readonly LatestPart[] | null> {
  const { latest } = stateOf(state);
  return latest === undefined ? [] : await readIndex(objects, latest.digest);
}
