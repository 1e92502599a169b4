/** The file of records that is derived from an answer: NDJSON, always the same bytes for the same answer. */
import { createHash } from 'node:crypto';
import { RUN_FAULTS_MAX, type SourceRun } from '../../../contract/operations/sources.ts';
import type { MappedRefusal } from '../../../mapping/declared/mapped-rows.ts';
import { ContradictedRecords } from '../../../mapping/declared/repeated-records.ts';
import { deriveRecords } from '../../../mapping/recipe/derive-records.ts';
import { type ListedAnswer, newsOfList } from '../../../mapping/recipe/list-news.ts';
import type { Recipe } from '../../../mapping/recipe/recipe.ts';
import type { UploadContent } from '../../../storage/ports/upload-store.ts';

export interface ArchivedAnswer {
  readonly recipe: Recipe;
  readonly answer: ListedAnswer;
  /** For a list: the earlier answers for comparison, oldest first. */
  readonly earlier: readonly ListedAnswer[];
  /** Whether a list may be much shorter than its previous answer. */
  readonly mayShrink: boolean;
}

export interface DerivedFile extends UploadContent, Pick<SourceRun, 'refusedRows' | 'faults'> {
  readonly records: number;
  /** The number of list values without news, which are left out. */
  readonly known: number;
  /** The records that are left out, because later ones contradict them. */
  readonly contradicted: ContradictedRecords;
}

/** The size of a piece that the mapping reads without a pause. */
const PIECE_BYTES = 64 * 1024;
/** The number of records between two pauses. */
const RECORDS_AT_ONCE = 500;

type YieldToEventLoop = () => Promise<void>;

/** Measures the file without keeping it: it may be many times as large as the answer. @throws ListShrunk */
export async function describeFile(answer: ArchivedAnswer, yieldToEventLoop?: YieldToEventLoop): Promise<DerivedFile> {
  const contradicted = new ContradictedRecords();
  const file = await measure(answer, contradicted, yieldToEventLoop);
  // Only the whole answer shows which records are contradicted.
  return contradicted.size === 0 ? file : await measure(answer, contradicted, yieldToEventLoop);
}

async function measure(
  answer: ArchivedAnswer,
  contradicted: ContradictedRecords,
  yieldToEventLoop?: YieldToEventLoop,
): Promise<DerivedFile> {
  const digest = createHash('sha256');
  const faults: DerivedFile['faults'] = [];
  const { json, xml } = answer.recipe.mapping;
  const isDocument = json !== undefined || xml !== undefined;
  const refusedRows = new Set<string>();
  const count = { bytes: 0, records: 0, known: 0 };
  const refused = (refusal: MappedRefusal) => {
    const { line, row = 0, code, detail } = refusal;
    contradicted.add(refusal);
    if (refusal.isOfFacts !== true) refusedRows.add(row > 0 ? `row ${row}` : `line ${line}`);
    // A document may be one long line, so its faults name the row.
    const place = isDocument && row > 0 ? `row ${row}: ` : '';
    if (faults.length < RUN_FAULTS_MAX) faults.push({ line, code, detail: `${place}${detail}` });
  };
  const counted = (kind: 'record' | 'known') => {
    count[kind === 'record' ? 'records' : 'known'] += 1;
  };
  for await (const chunk of readRecords(answer, contradicted, yieldToEventLoop, refused, counted)) {
    digest.update(chunk);
    count.bytes += chunk.length;
  }
  return { ...count, sha256: digest.digest('hex'), refusedRows: refusedRows.size, faults, contradicted };
}

/** Generates the file itself. */
export function readFile(
  answer: ArchivedAnswer,
  { contradicted }: Pick<DerivedFile, 'contradicted'>,
  yieldToEventLoop?: YieldToEventLoop,
): AsyncIterable<Uint8Array> {
  const ignored = () => {};
  return readRecords(answer, contradicted, yieldToEventLoop, ignored, ignored);
}

async function* readRecords(
  { recipe, answer: archived, earlier, mayShrink }: ArchivedAnswer,
  contradicted: ContradictedRecords,
  yieldToEventLoop: YieldToEventLoop = async () => {},
  refused: (refusal: MappedRefusal) => void,
  counted: (kind: 'record' | 'known') => void,
): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  const answer = { ...archived, open: async () => paused(await archived.open(), yieldToEventLoop) };
  const results =
    recipe.list === undefined
      ? deriveRecords(recipe, await answer.open(), answer.context)
      : newsOfList(recipe, recipe.list, answer, earlier, mayShrink ? 0 : recipe.list.minimumShare);
  for await (const result of results) {
    if (result.kind === 'refusal') {
      refused(result);
      continue;
    }
    const fault = result.kind === 'record' ? contradicted.faultOf(result.record) : null;
    if (fault !== null) {
      refused({ kind: 'refusal', line: result.line, ...fault });
      continue;
    }
    counted(result.kind);
    if (result.kind === 'known') continue;
    lines.push(JSON.stringify(result.record), '\n');
    if (lines.length < 2 * RECORDS_AT_ONCE) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
    await yieldToEventLoop();
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

/** An XML document gives its first record after its last piece, seconds later. */
async function* paused(bytes: AsyncIterable<Uint8Array>, yieldToEventLoop: YieldToEventLoop) {
  for await (const piece of bytes) {
    yield piece;
    await yieldToEventLoop();
  }
}

export async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
