/**
 * A current list, such as the prices of a vendor: it has no history, and says only what holds now. Its records are the differences
 * from the answer before. They follow from the recipe and from archived answers alone, so a run can be replayed.
 */
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { MappedRecord, MappedRefusal } from '../declared/mapped-rows.ts';
import { deriveRecords, fetchedOn, type RunContext } from './derive-records.ts';
import type { Recipe } from './recipe.ts';

export interface ListedAnswer {
  /** Equal for equal bytes. */
  readonly sha256: string;
  readonly context: RunContext;
  /** Whether all of its records were taken in. */
  readonly isWhole: boolean;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** `known`: a value, or a definition of a market, that the answer before has too. */
export type ListResult = MappedRecord | MappedRefusal | { readonly kind: 'known'; readonly line: number };

/**
 * @param earlier the answers before it, oldest first, of fetches in a row: at most `goneAfter` of them count. All are of this recipe
 */
export async function* newsOfList(
  recipe: Recipe,
  { goneAfter }: NonNullable<Recipe['list']>,
  current: ListedAnswer,
  earlier: readonly ListedAnswer[],
): AsyncGenerator<ListResult> {
  const before = earlier.at(-1);
  const known = new Map<string, string>();
  if (before?.isWhole === true) {
    for await (const { record } of recordsOf(recipe, before)) known.set(nameOf(record), contentOf(record));
  }
  const present = new Set<string>();
  const unreadable = new Set<string>();
  for await (const result of deriveRecords(recipe, await current.open(), current.context)) {
    if (result.kind === 'refusal') {
      if (result.market !== undefined) unreadable.add(result.market);
      yield result;
      continue;
    }
    const { record, line } = result;
    present.add(nameOf(record));
    if (known.get(nameOf(record)) === contentOf(record)) yield { kind: 'known', line };
    else yield record.type === 'observation' ? { ...result, record: { ...record, ifChanged: true } } : result;
  }
  // An answer without a value is no list.
  if (present.size === 0 || earlier.length < goneAfter) return;
  const window = earlier.slice(-goneAfter);
  for (const { record } of await goneFrom(recipe, window, current, present)) {
    if (unreadable.has(record.market)) continue;
    yield { kind: 'record', line: 1, record: unlisted(record, current.context) };
  }
}

type ObservationInput = Extract<IngestRecordInput, { type: 'observation' }>;
type MappedObservation = MappedRecord & { readonly record: ObservationInput };

/** The values of the oldest answer that no later one has. */
async function goneFrom(
  recipe: Recipe,
  [oldest, ...later]: readonly ListedAnswer[],
  current: ListedAnswer,
  present: ReadonlySet<string>,
): Promise<Iterable<MappedObservation>> {
  const gone = new Map<string, MappedObservation>();
  if (oldest === undefined || oldest.sha256 === current.sha256) return [];
  for await (const result of recordsOf(recipe, oldest)) {
    const name = nameOf(result.record);
    if (isObservation(result) && !present.has(name)) gone.set(name, result);
  }
  const seen = new Set([oldest.sha256, current.sha256]);
  for (const answer of later) {
    if (gone.size === 0) break;
    if (answer.sha256 === oldest.sha256) return [];
    if (seen.has(answer.sha256)) continue;
    seen.add(answer.sha256);
    for await (const { record } of recordsOf(recipe, answer)) gone.delete(nameOf(record));
  }
  return gone.values();
}

async function* recordsOf(recipe: Recipe, answer: ListedAnswer): AsyncGenerator<MappedRecord> {
  for await (const result of deriveRecords(recipe, await answer.open(), answer.context)) {
    if (result.kind === 'record') yield result;
  }
}

function isObservation(result: MappedRecord): result is MappedObservation {
  return result.record.type === 'observation';
}

/** The same in each answer: a market, or a metric of a market. */
function nameOf(record: IngestRecordInput): string {
  return record.type === 'market' ? record.slug : `${record.market} ${record.metric}`;
}

/** All that a list says, without the moment at which it was seen. */
function contentOf(record: IngestRecordInput): string {
  if (record.type !== 'observation') return JSON.stringify(record);
  const { observedAt, releasedAt, sourceUrl, ...content } = record;
  return JSON.stringify(content);
}

function unlisted(record: ObservationInput, { date, fetchedAt = fetchedOn(date) }: RunContext): ObservationInput {
  const { type, market, metric, sourceLabel, sourceUrl, confidence, status } = record;
  const stated = { type, market, metric, sourceLabel, sourceUrl, confidence, status, observedAt: fetchedAt };
  const unknown = { ...stated, unknownReason: 'no-longer-listed', ifChanged: true } as const;
  if ('amountMinor' in record) return { ...unknown, amountMinor: null, currency: record.currency };
  if ('currency' in record) return { ...unknown, value: null, currency: record.currency };
  return { ...unknown, value: null, unit: record.unit };
}
