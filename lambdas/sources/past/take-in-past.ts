/**
 * Ingests the past versions of a current list, such as those in a git repository. Each version counts as one fetch, at the
 * moment at which it was seen, oldest first.
 *
 *     read, derive ──a chunk of records──► upload ──(the worker applies it)──► remembered: the last version of the chunk
 *
 * It may stop after any step, and is started again from the remembered version. Records that were stored before are
 * recognised by their moment and their URL.
 */
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { created, replaced } from '../../../storage/ports/changes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type UploadValue, uploadKey } from '../../../storage/records/batches.ts';
import { type SourceStateValue, sourceKey, sourceStateKey } from '../../../storage/records/sources.ts';
import { queueUpload } from '../../ingest/queue-upload.ts';
import { uploadOfSource } from '../../ingest/uploads.ts';
import type { SourceDependencies } from '../run/dependencies.ts';
import { pieces } from '../run/derive-file.ts';
import { Chunk } from './chunk.ts';
import {
  listRecipe,
  NotTakenIn,
  type PastRead,
  type PastVersion,
  type PastVersions,
  type ReadVersion,
  VersionReader,
} from './version-reader.ts';

export interface PastTakenIn extends PastRead {
  readonly source: string;
  /** Records, by their outcome. */
  readonly counts: { readonly accepted: number; readonly unchanged: number; readonly refused: number };
}

export interface PastOptions {
  /** Applies the queued work. */
  readonly work: () => Promise<void>;
  readonly progress?: (done: number, of: number) => void;
  /** The size of the records that are sent together, which are in memory. */
  readonly chunkCharacters?: number;
}

const CHUNK_CHARACTERS = 16 * 1024 * 1024;

/**
 * @param source has a recipe with a list. No other process may run this source
 * @throws NotTakenIn
 */
export async function takeInPast(
  dependencies: SourceDependencies,
  source: string,
  past: PastVersions,
  { work, progress = () => {}, chunkCharacters = CHUNK_CHARACTERS }: PastOptions,
): Promise<PastTakenIn> {
  const { ledger } = dependencies;
  const [recipeItem, state] = await ledger.getMany([sourceKey(source), sourceStateKey(source)]);
  if (recipeItem === null || state === null) throw new NotTakenIn(`There is no source ${source}.`);
  const recipeText = canonicalJson(recipeItem.value.recipe);
  const recipe = listRecipe(recipeItem.value.recipe);
  const recipeSha256 = sha256Hex(Buffer.from(recipeText));
  const done = lastDone(past, state.value.past, recipeSha256);

  const reader = new VersionReader(recipe, past);
  await reader.seed(done);
  const counts = { accepted: 0, unchanged: 0, refused: 0 };
  let chunk = new Chunk();
  const send = async (version: PastVersion) => {
    const sent = await sendChunk(dependencies, source, chunk, work);
    for (const outcome of ['accepted', 'unchanged', 'refused'] as const) counts[outcome] += sent[outcome];
    chunk = new Chunk();
    const { id, seenAt } = version;
    await remember(dependencies, source, { past: { origin: past.origin, recipeSha256, version: id, seenAt } });
  };
  for (const [index, version] of past.versions.entries()) {
    if (index <= done) continue;
    progress(index, past.versions.length);
    for await (const record of reader.news(version)) chunk.add(record);
    if (chunk.characters > chunkCharacters) await send(version);
  }
  const last = past.versions.at(-1);
  if (last !== undefined && past.versions.length > done + 1) {
    await send(last);
    await goOnFrom(dependencies, source, Buffer.from(recipeText), reader.newest);
  }
  return { source, ...reader.summary, counts };
}

/** The index of the last version that was ingested; -1: none. A changed recipe starts from the beginning. */
function lastDone({ origin, versions }: PastVersions, known: SourceStateValue['past'], recipeSha256: string): number {
  if (known?.origin !== origin || known.recipeSha256 !== recipeSha256) return -1;
  const place = versions.findIndex(({ id }) => id === known.version);
  // The branch was rewritten, so the version is unknown. Its time decides.
  return place === -1 ? versions.findLastIndex(({ seenAt }) => seenAt <= known.seenAt) : place;
}

/** Makes the next run compare its answer with these versions, unless a run of the source is later than they are. */
async function goOnFrom(
  dependencies: SourceDependencies,
  source: string,
  recipe: Uint8Array,
  newest: readonly ReadVersion[],
): Promise<void> {
  const { ledger, archive } = dependencies;
  const recipeSha256 = sha256Hex(recipe);
  const listed = (await ledger.get(sourceStateKey(source)))?.value.listed;
  const seenAt = newest.at(-1)?.answer.context.fetchedAt ?? '';
  if (seenAt <= (listed?.answers.at(-1)?.fetchedAt ?? '')) return;
  await archive.put(recipeSha256, recipe);
  for (const { bytes, answer } of newest) await archive.put(answer.sha256, bytes);
  const answers = newest.map(({ answer: { sha256, isWhole, context } }) => {
    const { date, fetchedAt = '', url } = context;
    return { sha256, date, fetchedAt, lastModified: null, isWhole, ...(url !== undefined && { url }) };
  });
  await remember(dependencies, source, { listed: { recipeSha256, answers } });
}

async function remember(
  { ledger, newAttemptId }: SourceDependencies,
  source: string,
  change: Partial<SourceStateValue>,
): Promise<void> {
  const state = await ledger.get(sourceStateKey(source));
  if (state === null) throw new NotTakenIn(`The source ${source} was removed.`);
  const result = await ledger.transact([replaced(state, { ...state.value, ...change })], { attemptId: newAttemptId() });
  if (!result.committed) throw new NotTakenIn(`The source ${source} was changed meanwhile: run it again.`);
}

/** Resolves when the worker has applied them. @throws NotTakenIn if the worker does not apply them */
async function sendChunk(
  dependencies: SourceDependencies,
  source: string,
  { lines }: Chunk,
  work: () => Promise<void>,
): Promise<Pick<UploadValue, 'accepted' | 'unchanged' | 'refused'>> {
  if (lines.length === 0) return { accepted: 0, unchanged: 0, refused: 0 };
  const { ledger, uploads, nowMs, newId, newAttemptId } = dependencies;
  const file = Buffer.from(`${lines.join('\n')}\n`);
  const content = { sha256: sha256Hex(file), bytes: file.length };
  const createdAt = new Date(nowMs()).toISOString();
  const upload = uploadOfSource(source, { id: newId('upl'), ...content, records: lines.length, createdAt });
  const announced = [created(uploadKey(upload.id), upload)];
  await ledger.transact(announced, { attemptId: newAttemptId() });
  await uploads.put(upload.id, content, () => pieces(file));
  await queueUpload(dependencies, upload.id);
  for (let before = -1; ; ) {
    await work();
    const now = (await ledger.get(uploadKey(upload.id)))?.value;
    if (now?.state === 'applied') return now;
    if (now === undefined || now.finishedAt !== null || now.recordsDone === before)
      throw new NotTakenIn(`The upload ${upload.id} stands still: ${now?.stoppedBecause ?? now?.state ?? 'removed'}.`);
    before = now.recordsDone;
  }
}
