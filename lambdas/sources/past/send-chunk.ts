/** Sends the records of some past versions as one upload, as a run sends those of an answer. */
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { FEED_SCOPES } from '../../../contract/operations/scopes.ts';
import { created } from '../../../storage/ports/changes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { type UploadValue, uploadKey } from '../../../storage/records/batches.ts';
import { sourcePrincipal } from '../../../storage/records/sources.ts';
import { queueUpload } from '../../ingest/queue-upload.ts';
import { newUpload } from '../../ingest/uploads.ts';
import type { SourceDependencies } from '../run/dependencies.ts';
import { pieces } from '../run/derive-file.ts';

/** Nothing more is taken in before a person has mended it. */
export class NotTakenIn extends Error {
  override readonly name = 'NotTakenIn';
}

type MarketInput = Extract<IngestRecordInput, { type: 'market' }>;

/** A later definition counts, but for two things. */
function withEarlier(record: MarketInput, earlier: MarketInput | undefined): MarketInput {
  if (earlier === undefined) return record;
  // A quantity is fixed by the first observation, so it must hold the amounts that come later.
  const quantity = Math.max(record.unit.quantity, earlier.unit.quantity);
  // A fact has the moment from which on the source has said it.
  const facts = Object.entries(record.attributes ?? {}).map(([name, fact]) => {
    const before = earlier.attributes?.[name];
    const isSame = before?.value === fact.value && before.sourceLabel === fact.sourceLabel;
    return [name, isSame ? before : fact] as const;
  });
  const attributes = facts.length === 0 ? {} : { attributes: Object.fromEntries(facts) };
  return { ...record, ...attributes, unit: { ...record.unit, quantity } };
}

/** The records of some versions. A market is defined once, and first. */
export class Chunk {
  characters = 0;
  readonly #markets = new Map<string, MarketInput>();
  readonly #lines: string[] = [];

  add(record: IngestRecordInput): void {
    if (record.type === 'market') {
      this.#markets.set(record.slug, withEarlier(record, this.#markets.get(record.slug)));
      return;
    }
    const line = JSON.stringify(record);
    this.characters += line.length;
    this.#lines.push(line);
  }

  get lines(): readonly string[] {
    return [...[...this.#markets.values()].map((market) => JSON.stringify(market)), ...this.#lines];
  }
}

/** Returns when the worker has applied them. @throws NotTakenIn if it does not */
export async function sendChunk(
  dependencies: SourceDependencies,
  source: string,
  { lines }: Chunk,
  work: () => Promise<void>,
): Promise<Pick<UploadValue, 'accepted' | 'unchanged' | 'refused'>> {
  if (lines.length === 0) return { accepted: 0, unchanged: 0, refused: 0 };
  const { ledger, uploads, nowMs, newId, newAttemptId } = dependencies;
  const file = Buffer.from(`${lines.join('\n')}\n`);
  const content = { sha256: sha256Hex(file), bytes: file.length };
  const principal = sourcePrincipal(source);
  const upload = newUpload({
    id: newId('upl'),
    subject: principal,
    actor: principal,
    authority: { scopes: [...FEED_SCOPES], markets: null },
    mode: 'correct',
    ...content,
    records: lines.length,
    createdAt: new Date(nowMs()).toISOString(),
  });
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
