/** Reads the past versions of a list, oldest first, as answers of that list. */
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { ListAnswers, type ListedAnswer } from '../../../mapping/recipe/list-news.ts';
import { parseRecipe, type Recipe } from '../../../mapping/recipe/recipe.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { pieces } from '../run/derive-file.ts';

export interface PastVersions {
  /** Equal for the same file in the same repository. */
  readonly origin: string;
  /** Oldest first. */
  readonly versions: readonly PastVersion[];
  /** Null: the version has no such file, or the file is larger than `maxBytes`. Fast if the versions are read in order. */
  read(version: PastVersion, maxBytes: number): Promise<Uint8Array | null>;
}

export interface PastVersion {
  /** For example the id of a commit. */
  readonly id: string;
  /** Later than that of the previous version; RFC 3339 in UTC, with milliseconds. */
  readonly seenAt: string;
  /** The permanent public address of its bytes; null: it has none. */
  readonly url: string | null;
}

export type ListRecipe = Recipe & { readonly list: NonNullable<Recipe['list']> };

/** Ingest stops until a person has corrected the fault. */
export class NotTakenIn extends Error {
  override readonly name = 'NotTakenIn';
}

/** @throws NotTakenIn for a recipe with faults, or without a list */
export function listRecipe(value: unknown): ListRecipe {
  const parsed = parseRecipe(value);
  if ('faults' in parsed) throw new NotTakenIn(`The recipe is not valid: ${parsed.faults[0].detail}`);
  const { list } = parsed.recipe;
  if (list !== undefined) return { ...parsed.recipe, list };
  throw new NotTakenIn('Past versions are those of a current list: the recipe has no "list".');
}

export interface PastRead {
  /** Numbers of versions: all that were read, and those without news. */
  readonly versions: number;
  readonly unchanged: number;
  /** The number of unreadable versions, which were skipped; the first ones are listed with the reason. */
  readonly passedOver: number;
  readonly faults: readonly { readonly version: string; readonly detail: string }[];
}

const FAULTS_MAX = 20;
/** The limit for a text that may list all columns of a file. */
const DETAIL_MAX = 200;

export interface ReadVersion {
  readonly bytes: Uint8Array;
  readonly answer: ListedAnswer;
}

/** Reads versions as answers of a list. */
export class VersionReader {
  /** The last versions, for comparison with the source's next answer. */
  newest: ReadVersion[] = [];
  readonly #recipe: ListRecipe;
  readonly #past: PastVersions;
  readonly #answers: ListAnswers;
  #read = 0;
  #unchanged = 0;
  #passedOver = 0;
  readonly #faults: { version: string; detail: string }[] = [];

  constructor(recipe: ListRecipe, past: PastVersions) {
    this.#recipe = recipe;
    this.#past = past;
    this.#answers = new ListAnswers(recipe, recipe.list);
  }

  get summary(): PastRead {
    const [versions, unchanged, passedOver, faults] = [this.#read, this.#unchanged, this.#passedOver, this.#faults];
    return { versions, unchanged, passedOver, faults };
  }

  /** Reads the last versions up to this one again. Older ones have no effect. */
  async seed(index: number): Promise<void> {
    const { goneAfter } = this.#recipe.list;
    const found: ReadVersion[] = [];
    for (let at = index; at >= 0 && found.length < goneAfter; at--) {
      const version = await this.#answerOf(this.#past.versions[at] as PastVersion);
      if (version === null) continue;
      const alone = new ListAnswers(this.#recipe, this.#recipe.list);
      for await (const { kind } of alone.news(version.answer)) {
        if (kind !== 'record') continue;
        found.unshift(version);
        break;
      }
    }
    for (const { answer } of found) await this.#answers.pass(answer);
    this.newest = found;
  }

  async *news(version: PastVersion): AsyncGenerator<IngestRecordInput> {
    const found = await this.#answerOf(version);
    if (found === null) {
      this.#passOver(version, `there is no such file, or it has more than ${this.#recipe.limits.maxBytes} bytes`);
      return;
    }
    let [news, values] = [0, 0];
    let fault: string | null = null;
    for await (const result of this.#answers.news(found.answer)) {
      if (result.kind === 'refusal') {
        fault ??= `line ${result.line}: ${result.detail}`;
        continue;
      }
      values += 1;
      if (result.kind === 'known') continue;
      news += 1;
      yield result.record;
    }
    if (values === 0) return this.#passOver(version, fault ?? 'it has no rows');
    this.#read += 1;
    if (news === 0) this.#unchanged += 1;
    this.newest = [...this.newest, found].slice(-this.#recipe.list.goneAfter);
  }

  #passOver({ id }: PastVersion, detail: string): void {
    this.#passedOver += 1;
    const shown = detail.length > DETAIL_MAX ? `${detail.slice(0, DETAIL_MAX)} …` : detail;
    if (this.#faults.length < FAULTS_MAX) this.#faults.push({ version: id, detail: shown });
  }

  async #answerOf(version: PastVersion): Promise<ReadVersion | null> {
    const bytes = await this.#past.read(version, this.#recipe.limits.maxBytes);
    if (bytes === null) return null;
    const { seenAt, url } = version;
    const address = url === null ? {} : { url };
    const context = {
      date: seenAt.slice(0, 10),
      fetchedAt: seenAt,
      lastModified: null,
      isPast: true,
      ...address,
    } as const;
    return { bytes, answer: { sha256: sha256Hex(bytes), context, isWhole: true, open: async () => pieces(bytes) } };
  }
}
