/**
 * A run, from top to bottom. It may stop after any step, and any process may continue it: each step is recorded, or is
 * harmless if it is done twice.
 *
 *     waiting ──fetch, archive──► taking-in ──derive, announce, put, queue──► (the worker applies the upload) ──► ended
 *
 * - The answer is archived before the run records it. A run that stops before that asks the source again.
 * - The records depend only on the archived answer and the archived recipe, so a repeated try makes the same file.
 * - The id of the upload is derived from the id of the run. So an upload is announced, put and queued once.
 */

import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { redact } from '../../../contract/values/redact.ts';
import { type ListedAnswer, ListShrunk } from '../../../mapping/recipe/list-news.ts';
import { LISTED_ANSWERS_MAX, parseRecipe, type Recipe, urlOfRun } from '../../../mapping/recipe/recipe.ts';
import { created } from '../../../storage/ports/changes.ts';
import { StorageCorrupt, StorageUnavailable } from '../../../storage/ports/errors.ts';
import type { Item } from '../../../storage/ports/ledger.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type UploadValue, uploadKey } from '../../../storage/records/batches.ts';
import {
  type ListedAnswerValue,
  type RunValue,
  type RunWorkValue,
  runKey,
  type SourceStateValue,
  sourceKey,
  sourceStateKey,
  type TakenInValue,
  uploadOfRun,
} from '../../../storage/records/sources.ts';
import { queueUpload } from '../../ingest/queue-upload.ts';
import { uploadOfSource } from '../../ingest/uploads.ts';
import { countsOf } from '../../markets/tally.ts';
import { type ClaimedRun, claimRun, leaveRun, recordProgress } from './claimed-run.ts';
import type { SourceDependencies } from './dependencies.ts';
import { type ArchivedAnswer, type DerivedFile, describeFile, pieces, readFile } from './derive-file.ts';
import { type AfterRun, endRun, type RunEnd } from './end-run.ts';

/** The pause before the run checks again whether the worker has finished. */
const LOOK_AGAIN_MS = 1_000;
/** The pause after a failure of storage. This process may try again earlier. */
const TRY_AGAIN_MS = 60_000;

/**
 * Continues the run as far as possible now.
 *
 * @throws StorageUnavailable if storage fails: the run stays, and the next call continues it. After any other error the run
 *   has ended
 */
export async function workOnRun(dependencies: SourceDependencies, item: Item<RunWorkValue>): Promise<void> {
  const claimed = await claimRun(dependencies, item);
  if (claimed === null) return;
  try {
    const fetched = claimed.run.value.sha256 === null ? await fetchAnswer(dependencies, claimed) : claimed;
    if (fetched === null) return;
    if (fetched.run.value.cause === 'replay') return await replay(dependencies, fetched);
    await takeIn(dependencies, fetched);
  } catch (error) {
    if (error instanceof StorageUnavailable) {
      // If this fails too, the run is continued when its lease has ended.
      const { nowMs, owner } = dependencies;
      await leaveRun(dependencies, claimed, nowMs() + TRY_AGAIN_MS, owner).catch(() => undefined);
      throw error;
    }
    // The run is ended: otherwise it would fail each time, and no other run of its source could begin.
    const { message } = error as Error;
    const code = error instanceof StorageCorrupt ? 'archive-damaged' : 'internal-error';
    // Some progress may be recorded since the claim. The work item shows whether this process still has the run.
    const run = (await dependencies.ledger.get(runKey(claimed.source, claimed.id))) ?? claimed.run;
    await fail(dependencies, { ...claimed, run }, code, redact(message));
    throw error;
  }
}

/** Asks the source, and archives the answer with the recipe. Null: nothing more to do. */
async function fetchAnswer(dependencies: SourceDependencies, claimed: ClaimedRun): Promise<ClaimedRun | null> {
  const { ledger, archive, ask, nowMs } = dependencies;
  const { source: name, run } = claimed;
  const [source, state] = await ledger.getMany([sourceKey(name), sourceStateKey(name)]);
  if (source === null || state === null) {
    return await fail(dependencies, claimed, 'source-removed', 'The source was removed before the run began.');
  }
  const text = Buffer.from(canonicalJson(source.value.recipe));
  const parsed = parseRecipe(source.value.recipe);
  if ('faults' in parsed) {
    const { pointer, detail } = parsed.faults[0];
    return await fail(dependencies, claimed, 'recipe-invalid', `${pointer || '/'}: ${detail}: put the recipe again.`);
  }
  const { recipe } = parsed;
  const startedAt = new Date(nowMs()).toISOString();
  const date = startedAt.slice(0, 10);
  const url = urlOfRun(recipe, date);
  const recipeSha256 = sha256Hex(text);
  const { takenIn, archived } = state.value;
  const listed = await kept(archive, listedBefore(recipe, recipeSha256, state.value, run.value));
  // While values are missing from a list, each fetch counts, even if its answer is the same.
  const isPending = new Set(listed?.map(({ sha256 }) => sha256)).size > 1;
  // The validators belong to one URL, and to the records of one recipe.
  const isSame =
    takenIn?.url === url && takenIn.recipeSha256 === recipeSha256 && !run.value.unconditional && !isPending;
  const { etag, lastModified } = isSame ? takenIn : { etag: null, lastModified: null };
  const { hosts, headers, limits, unpack } = recipe;
  const { archiveBytes, ...bounds } = limits;
  if ((archived?.bytes ?? 0) >= archiveBytes) {
    const detail = `The archive has ${archived?.bytes} bytes of this source, and the recipe's limits.archiveBytes is ${archiveBytes}. Raise it, or ask the source less often.`;
    return await fail(dependencies, claimed, 'archive-full', detail);
  }
  const asked = { startedAt, date, url, recipeSha256 };
  const answer = await ask({
    url,
    hosts,
    ...bounds,
    etag,
    lastModified,
    ...(headers && { headers }),
    ...(unpack && { unpack }),
  });
  if (answer.kind === 'not-modified') {
    await endRun(dependencies, claimed, { ...asked, outcome: 'unchanged', etag, lastModified });
    return null;
  }
  if (answer.kind === 'failed') {
    const { code, detail } = answer;
    const end: RunEnd = { ...asked, outcome: 'failed', reason: { code, detail } };
    await endRun(dependencies, claimed, end, { failure: answer });
    return null;
  }
  const { hasRoom = async () => true } = dependencies;
  if (!(await hasRoom(answer.bytes.length))) {
    const detail = `The disk has too little room for the answer of ${answer.bytes.length} bytes: make room.`;
    return await fail(dependencies, claimed, 'no-room', detail);
  }
  const sha256 = sha256Hex(answer.bytes);
  await archive.put(recipeSha256, text);
  await archive.put(sha256, answer.bytes);
  return await recordProgress(dependencies, claimed, {
    ...asked,
    state: 'taking-in',
    sha256,
    bytes: answer.bytes.length,
    etag: answer.etag,
    lastModified: answer.lastModified,
    ...(listed && { listed, fetchedAt: startedAt }),
  });
}

/** The earlier answers for comparison with the answer of a list; null for a recipe without a list. */
function listedBefore(
  { list }: Recipe,
  recipeSha256: string,
  { listed }: SourceStateValue,
  { unconditional }: RunValue,
): ListedAnswerValue[] | null {
  if (list === undefined) return null;
  // Another recipe may name the same values differently. That must not count as their removal.
  const answers = listed?.recipeSha256 === recipeSha256 ? listed.answers.slice(-list.goneAfter) : [];
  return unconditional ? answers.map((answer) => ({ ...answer, isWhole: false })) : answers;
}

/** A job without a disk has no archive of earlier runs. Then nothing is compared, as in a first run. */
async function kept(
  archive: SourceDependencies['archive'],
  answers: ListedAnswerValue[] | null,
): Promise<ListedAnswerValue[] | null> {
  for (const { sha256 } of answers ?? []) if ((await archive.get(sha256)) === null) return [];
  return answers;
}

/** The answers of a list, with this run's answer as the newest one. */
function listedAfter({ run }: ClaimedRun, isWhole: boolean): Pick<AfterRun, 'listed'> {
  const { listed, recipeSha256, sha256, date, fetchedAt, lastModified } = run.value;
  if (listed === undefined || fetchedAt === undefined) return {};
  const answer = { sha256: sha256 as string, date: date as string, fetchedAt, lastModified, isWhole };
  return { listed: { recipeSha256: recipeSha256 as string, answers: [...listed, answer].slice(-LISTED_ANSWERS_MAX) } };
}

/** Sends the records as one upload, and ends the run when the worker has applied it. */
async function takeIn(dependencies: SourceDependencies, claimed: ClaimedRun): Promise<void> {
  const { ledger, uploads, nowMs } = dependencies;
  const upload = (await ledger.get(uploadKey(uploadOfRun(claimed.id))))?.value ?? null;
  if (upload !== null && upload.finishedAt !== null) return await endWithUpload(dependencies, claimed, upload);
  if (upload === null || (upload.state === 'awaiting-content' && (await uploads.head(upload.id)) === null)) {
    if (!(await send(dependencies, claimed, upload))) return;
  }
  await queueUpload(dependencies, uploadOfRun(claimed.id));
  await leaveRun(dependencies, claimed, nowMs() + LOOK_AGAIN_MS);
}

/** Returns whether the file of records is stored. If not, the run has ended, or another process has it. */
async function send(
  dependencies: SourceDependencies,
  claimed: ClaimedRun,
  upload: UploadValue | null,
): Promise<boolean> {
  const { ledger, uploads, yieldToEventLoop, nowMs } = dependencies;
  const { id, source, run } = claimed;
  const answer = await archivedAnswer(dependencies, claimed);
  const file = await describe(dependencies, claimed, answer);
  if (file === null) return false;
  const { records, known, refusedRows, faults, sha256, bytes } = file;
  const derived = { records, refusedRows, faults };
  if (records === 0 && known > 0) {
    const takenIn = takenInBy(claimed, sha256);
    const after = { takenIn, ...listedAfter(claimed, true) };
    await endRun(dependencies, claimed, { outcome: 'unchanged', ...derived }, after);
    return false;
  }
  if (records === 0) {
    const [fault] = faults;
    const why = fault === undefined ? 'it has no rows' : `line ${fault.line}: ${fault.code}: ${fault.detail}`;
    const reason = { code: 'no-records', detail: `The answer gave no record: ${why}.` };
    await endRun(dependencies, claimed, { outcome: 'failed', reason, ...derived });
    return false;
  }
  if (upload === null) {
    const state = await ledger.get(sourceStateKey(source));
    const isKnown = run.value.listed === undefined && state?.value.takenIn?.records === sha256;
    if (isKnown && !run.value.unconditional) {
      const takenIn = takenInBy(claimed, sha256);
      await endRun(dependencies, claimed, { outcome: 'unchanged', ...derived }, { takenIn });
      return false;
    }
    const createdAt = new Date(nowMs()).toISOString();
    const announced = uploadOfSource(source, { id: uploadOfRun(id), sha256, bytes, records, createdAt });
    const progress = { ...derived, upload: announced.id };
    const others = [created(uploadKey(announced.id), announced)];
    const announcedRun = await recordProgress(dependencies, claimed, progress, others);
    if (announcedRun === null) return false;
  }
  await uploads.put(uploadOfRun(id), { sha256, bytes }, () => readFile(answer, file, yieldToEventLoop));
  return true;
}

async function endWithUpload(
  dependencies: SourceDependencies,
  claimed: ClaimedRun,
  upload: UploadValue,
): Promise<void> {
  const { state, stoppedBecause, accepted, unchanged, refused, sha256 } = upload;
  const { counts } = countsOf(upload);
  if (state === 'applied' && accepted + unchanged > 0) {
    const after = { takenIn: takenInBy(claimed, sha256), ...listedAfter(claimed, refused === 0) };
    await endRun(dependencies, claimed, { outcome: 'taken-in', counts }, after);
    return;
  }
  const reason =
    state === 'applied'
      ? { code: 'all-refused', detail: 'Every record was refused: the reports of the upload say why.' }
      : { code: 'upload-stopped', detail: `The upload was stopped: ${stoppedBecause ?? state}.` };
  await endRun(dependencies, claimed, { outcome: 'failed', reason, counts });
}

function takenInBy({ run }: ClaimedRun, records: string): TakenInValue {
  const { url, recipeSha256, etag, lastModified } = run.value;
  return { url: url as string, recipeSha256: recipeSha256 as string, etag, lastModified, records };
}

/** Derives the records again, and compares their file with the file of the replayed run. */
async function replay(dependencies: SourceDependencies, claimed: ClaimedRun): Promise<void> {
  const { replayOf } = claimed.run.value;
  const startedAt = new Date(dependencies.nowMs()).toISOString();
  const sent = await dependencies.ledger.get(uploadKey(uploadOfRun(replayOf as string)));
  const file = await describe(dependencies, claimed, await archivedAnswer(dependencies, claimed));
  if (file === null) return;
  const { records, refusedRows, faults, sha256 } = file;
  const outcome = sent?.value.sha256 === sha256 ? 'same' : 'different';
  await endRun(dependencies, claimed, { startedAt, outcome, records, refusedRows, faults });
}

/** @throws StorageCorrupt if the archive has lost the recipe. Reading an answer that it has lost throws the same */
async function archivedAnswer({ archive }: SourceDependencies, { id, run }: ClaimedRun): Promise<ArchivedAnswer> {
  const { sha256, recipeSha256, date, fetchedAt, lastModified, listed = [], unconditional, cause } = run.value;
  const read = async (digest: string, what: string) => {
    const bytes = await archive.get(digest);
    if (bytes === null) throw new StorageCorrupt(`the archive has lost the ${what} of run ${id}`);
    return bytes;
  };
  const answerOf = ({ sha256: digest, isWhole, ...context }: Omit<ListedAnswerValue, 'fetchedAt'>): ListedAnswer => {
    return { sha256: digest, context, isWhole, open: async () => pieces(await read(digest, 'answer')) };
  };
  const context = { date: date as string, lastModified, ...(fetchedAt && { fetchedAt }) };
  return {
    recipe: recipeIn(await read(recipeSha256 as string, 'recipe')),
    answer: answerOf({ sha256: sha256 as string, ...context, isWhole: true }),
    earlier: listed.map(answerOf),
    // A replay repeats an answer that was applied before, even a shorter one.
    mayShrink: unconditional || cause === 'replay',
  };
}

function recipeIn(text: Uint8Array): Recipe {
  const parsed = parseRecipe(JSON.parse(Buffer.from(text).toString('utf8')));
  if ('recipe' in parsed) return parsed.recipe;
  throw new StorageCorrupt(`an archived recipe is no longer valid: ${parsed.faults[0].detail}`);
}

/** Null: the answer could not be read, so the run has ended. */
async function describe(
  dependencies: SourceDependencies,
  claimed: ClaimedRun,
  answer: ArchivedAnswer,
): Promise<DerivedFile | null> {
  try {
    return await describeFile(answer, dependencies.yieldToEventLoop);
  } catch (error) {
    if (error instanceof StorageUnavailable || error instanceof StorageCorrupt) throw error;
    if (error instanceof ListShrunk) {
      const detail = `The list is much shorter: ${error.message}, less than list.minimumShare of the recipe. Nothing was taken in. If it is right, run the source with --unconditional.`;
      return await fail(dependencies, claimed, 'list-shrunk', detail);
    }
    return await fail(dependencies, claimed, 'not-readable', `The answer cannot be read: ${(error as Error).message}`);
  }
}

async function fail(
  dependencies: SourceDependencies,
  claimed: ClaimedRun,
  code: string,
  detail: string,
): Promise<null> {
  await endRun(dependencies, claimed, { outcome: 'failed', reason: { code, detail } });
  return null;
}
