/**
 * A current list, such as the prices of a vendor. It has no history, and states only the current values. Its records are the
 * differences from the previous answer. They depend only on the recipe and the answers, so a run can be replayed.
 */
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { statedAttributes } from '../declared/map-attributes.ts';
import type { MappedRecord, MappedRefusal } from '../declared/mapped-rows.ts';
import { ContradictedRecords } from '../declared/repeated-records.ts';
import { deriveRecords, fetchedOn, type RunContext } from './derive-records.ts';
import type { Recipe } from './recipe.ts';

export interface ListedAnswer {
  /** Equal for equal bytes. */
  readonly sha256: string;
  readonly context: RunContext;
  /** Whether all of its records were accepted. */
  readonly isWhole: boolean;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** `known`: a value or a definition of a market that the previous answer has, too. */
export type ListResult = MappedRecord | MappedRefusal | { readonly kind: 'known'; readonly line: number };

type ObservationInput = Extract<IngestRecordInput, { type: 'observation' }>;

/** The answer lacks most values of the previous one: probably it is incomplete. */
export class ListShrunk extends Error {
  override readonly name = 'ListShrunk';
}

/** The answers of a list, one after the other, oldest first. Keeps the contents of the last `goneAfter` answers in memory. */
export class ListAnswers {
  readonly #recipe: Recipe;
  readonly #goneAfter: number;
  #count = 0;
  #last: Pick<ListedAnswer, 'sha256' | 'isWhole'> | null = null;
  /** The contents of the last answer. */
  #known = new Map<string, string>();
  /** Each value, and the number of the last answer with it. */
  readonly #values = new Map<string, { seenIn: number; readonly record: ObservationInput }>();

  constructor(recipe: Recipe, { goneAfter }: NonNullable<Recipe['list']>) {
    this.#recipe = recipe;
    this.#goneAfter = goneAfter;
  }

  /** Takes the next answer without returning its news. */
  async pass(answer: ListedAnswer): Promise<void> {
    if (answer.sha256 !== this.#last?.sha256) {
      for await (const _ of this.news(answer));
      return;
    }
    for (const value of this.#values.values()) if (value.seenIn === this.#count) value.seenIn += 1;
    this.#end(answer, this.#known);
  }

  /**
   * The differences between an answer and the previous one. An answer without any value is not a list, and is skipped.
   *
   * @param minimumShare the least share of the previous answer's values
   * @throws ListShrunk at the end, if the answer has a smaller share
   */
  async *news(answer: ListedAnswer, minimumShare = 0): AsyncGenerator<ListResult> {
    const known = this.#last?.isWhole === true ? this.#known : new Map<string, string>();
    const said = new Map<string, string>();
    const values = new Map<string, ObservationInput>();
    const unreadable = new Set<string>();
    const contradicted = new ContradictedRecords();
    const results: (MappedRecord | MappedRefusal)[] = [];
    for await (const result of deriveRecords(this.#recipe, await answer.open(), answer.context)) {
      results.push(result);
      if (result.kind === 'refusal') contradicted.add(result);
    }
    for (const result of results) {
      if (result.kind === 'refusal') {
        if (result.market !== undefined) unreadable.add(result.market);
        yield result;
        continue;
      }
      const { record, line } = result;
      const fault = contradicted.faultOf(record);
      if (fault !== null && record.type !== 'market') {
        unreadable.add(record.market);
        yield { kind: 'refusal', line, ...fault };
        continue;
      }
      const [name, content] = [nameOf(record), contentOf(record)];
      said.set(name, content);
      if (record.type === 'observation') values.set(name, record);
      if (known.get(name) === content) yield { kind: 'known', line };
      else yield record.type === 'observation' ? { ...result, record: { ...record, ifChanged: true } } : result;
    }
    if (said.size === 0) return;
    const stood = [...this.#values].filter(([, { seenIn }]) => seenIn === this.#count);
    // A row that cannot be read still counts as listed.
    const kept = stood.filter(([name, { record }]) => values.has(name) || unreadable.has(record.market));
    if (kept.length < minimumShare * stood.length)
      throw new ListShrunk(`it has ${kept.length} of the ${stood.length} values of the answer before`);
    const current = this.#count + 1;
    for (const [name, record] of values) this.#values.set(name, { seenIn: current, record });
    for (const [name, value] of this.#values) {
      if (value.seenIn < current && unreadable.has(value.record.market)) value.seenIn = current;
      if (value.seenIn > current - this.#goneAfter) {
        // The value still stands while it is missing, so its return is not news.
        const before = known.get(name);
        if (before !== undefined && !said.has(name)) said.set(name, before);
        continue;
      }
      this.#values.delete(name);
      yield { kind: 'record', line: 1, record: unlisted(value.record, answer.context) };
    }
    this.#end(answer, said);
  }

  #end({ sha256, isWhole }: ListedAnswer, known: Map<string, string>): void {
    this.#count += 1;
    this.#last = { sha256, isWhole };
    this.#known = known;
  }
}

/**
 * @param earlier the previous answers of consecutive fetches, oldest first, all with this recipe; at most `goneAfter` of them
 *   count
 * @param minimumShare as for {@link ListAnswers.news}
 */
export async function* newsOfList(
  recipe: Recipe,
  list: NonNullable<Recipe['list']>,
  current: ListedAnswer,
  earlier: readonly ListedAnswer[],
  minimumShare: number,
): AsyncGenerator<ListResult> {
  const answers = new ListAnswers(recipe, list);
  for (const answer of earlier.slice(-list.goneAfter)) await answers.pass(answer);
  yield* answers.news(current, minimumShare);
}

/** The name of a market, or of a metric of a market. It is the same in each answer. */
function nameOf(record: IngestRecordInput): string {
  return record.type === 'market' ? record.slug : `${record.market} ${record.metric}`;
}

/** The content of a record, without the moment at which it was seen. */
function contentOf(record: IngestRecordInput): string {
  if (record.type === 'market') return JSON.stringify({ ...record, attributes: statedAttributes(record) });
  if (record.type !== 'observation') return JSON.stringify(record);
  const { observedAt, releasedAt, sourceUrl, ...content } = record;
  return JSON.stringify(content);
}

function unlisted(record: ObservationInput, { date, fetchedAt = fetchedOn(date), url }: RunContext): ObservationInput {
  const { type, market, metric, sourceLabel, sourceUrl, confidence, status } = record;
  const place = { sourceLabel, sourceUrl: url ?? sourceUrl };
  const stated = { type, market, metric, ...place, confidence, status, observedAt: fetchedAt };
  const unknown = { ...stated, unknownReason: 'no-longer-listed', ifChanged: true } as const;
  if ('amountMinor' in record) return { ...unknown, amountMinor: null, currency: record.currency };
  if ('currency' in record) return { ...unknown, value: null, currency: record.currency };
  return { ...unknown, value: null, unit: record.unit };
}
