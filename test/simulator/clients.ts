/** Clients of the write API. Each sends a request, with one Idempotency-Key, until it is answered; then the next. */

import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { Actor, type Actors } from './actors.ts';
import { isMarket } from './facts.ts';
import { type SentBatch, Writer } from './model.ts';
import type { Random } from './random.ts';
import { requestOf } from './wiring.ts';
import type { World } from './world.ts';

/** Longer than any fault lasts. */
const MOST_TRIES = 300;

export class Client {
  readonly #world: World;
  readonly #actors: Actors;
  readonly #name: string;

  constructor(world: World, actors: Actors, name: string) {
    this.#world = world;
    this.#actors = actors;
    this.#name = name;
  }

  /**
   * The answer's body.
   *
   * @param mayBeInvisible the subject was committed a moment ago, and reads may not show it yet: 404 is tried again
   */
  async post(path: string, body: unknown, mayBeInvisible = false): Promise<{ readonly id: string }> {
    const key = `${this.#name}-${this.#world.newNumber()}`;
    return await this.#untilAnswered(`POST ${path} ${key}`, async () => {
      const request = requestOf(path, this.#name, key, body);
      const answer = await this.#actors.api.state.request(request);
      if (answer.statusCode < 300) return JSON.parse(answer.body ?? '');
      const isPassing = answer.statusCode === 409 || (mayBeInvisible && answer.statusCode === 404);
      if (answer.statusCode < 500 && !isPassing) {
        this.#world.fail('write-refused', `${path} ${key}: ${answer.statusCode} ${answer.body}`);
      }
      throw new StorageUnavailable(`${answer.statusCode}`);
    });
  }

  /** Sends a batch without the request pipeline. Returns its id. */
  async accept({ mode, partial, records }: SentBatch): Promise<string> {
    const { random } = this.#world;
    const id = `bat_${newUlid(this.#world.nowMs(), (count) => random.bytes(count))}`;
    return await this.#untilAnswered(`accept ${id}`, async () => {
      await this.#actors.api.state.accept({ id, subject: `account:${this.#name}`, mode, partial, records });
      return id;
    });
  }

  async #untilAnswered<Answer>(what: string, ask: () => Promise<Answer>): Promise<Answer> {
    const { scheduler, random } = this.#world;
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      // A dead process does not answer.
      const patience = scheduler.sleep(random.spread(500, 10_000)).then(() => NO_ANSWER);
      const answer = await Promise.race([ask().catch(noAnswer), patience]);
      this.#world.note(this.#name, what, answer === NO_ANSWER ? 'no answer' : 'answered');
      if (answer !== NO_ANSWER) return answer as Answer;
      await scheduler.sleep(random.spread(50, 3_000));
    }
    this.#world.fail('never-acknowledged', `${what}: ${MOST_TRIES} tries`);
    throw new Error('never acknowledged');
  }
}

const NO_ANSWER = Symbol('no answer');

function noAnswer(error: unknown): typeof NO_ANSWER {
  if (error instanceof StorageUnavailable) return NO_ANSWER;
  throw error;
}

/** Sends batches, one after the other. */
export async function writeBatches(
  world: World,
  client: Client,
  writer: Writer,
  count: number,
  gapMs: () => number,
): Promise<void> {
  for (let index = 0; index < count; index++) {
    await world.scheduler.sleep(gapMs());
    await sendBatch(world, client, writer.next());
  }
}

export async function sendBatch(world: World, client: Client, batch: SentBatch): Promise<string> {
  const { mode, partial, records } = batch;
  const id = world.usesPipeline
    ? (await client.post('/api/v1/ingest/batches', { mode, partial, records })).id
    : await client.accept(batch);
  world.acknowledged.set(id, batch);
  return id;
}

/** Sends a batch that takes several transactions. */
export async function sendMany(world: World, actors: Actors, isPlain: boolean): Promise<void> {
  const name = `many-${world.newNumber()}`;
  const writer = new Writer(name, world.random, world.expected, isPlain);
  await sendBatch(world, new Client(world, actors, name), writer.many());
}

/** Announces a file, puts it, and reports its arrival at least once. */
export async function sendUpload(world: World, actors: Actors, rows: number): Promise<void> {
  const writer = new Writer('uploader', world.random, world.expected);
  const sent = writer.rows(world.random.pick(['a', 'b', 'c']), rows);
  const { records } = sent;
  const bytes = Buffer.from(records.map((record: IngestRecordInput) => `${JSON.stringify(record)}\n`).join(''));
  const announced = { sha256: sha256Hex(bytes), bytes: bytes.length, records: records.length };
  const { id } = await new Client(world, actors, 'uploader').post('/api/v1/ingest/uploads', announced);
  world.acknowledged.set(id, { ...sent, isUpload: true });
  world.uploads.put(id, bytes);
  let isTold = false;
  const arrival: Actor = new Actor(world, 'arrival', async (host) => {
    // A failed event is delivered again.
    if (!isTold) arrival.wake(30_000);
    await world.wiring.uploadArrived(host, id);
    isTold = true;
  });
  arrival.wake(world.random.spread(1, 1_000));
  // An operator reports it again, because the ledger may have lost it.
  world.onRestored(() => {
    isTold = false;
    arrival.wake(0);
  });
}

/** Longer than a worker waits for a fault to end. */
const LONGEST_WAIT_MS = 4 * 60 * 60 * 1000;

/**
 * Defines a market, writes to it, and removes it; the last writes come at the same time as the removal, which may refuse
 * them. Nobody else writes to it, so only the ledger knows its content.
 */
export async function removeOne(world: World, actors: Actors, random: Random): Promise<void> {
  const slug = `old-${world.newNumber()}`;
  const writer = new Writer(`remover-${slug}`, random, new Map());
  const client = new Client(world, actors, `remover-${slug}`);
  const send = (rows: number) => sendBatch(world, client, { ...writer.rows(slug, rows), versions: [] });
  await send(random.int(1, 9));
  const endMs = world.nowMs() + LONGEST_WAIT_MS;
  for (;;) {
    // Its definition was torn: it waits for the operator. The index may have it without its record.
    if (world.torn.has(slug)) return;
    if (isMarket(world.items, slug)) break;
    if (world.nowMs() > endMs) return world.fail('never-acknowledged', `${slug} was never taken in`);
    await world.scheduler.sleep(100);
  }
  await world.scheduler.sleep(random.spread(1, 10_000));
  const later = send(random.int(1, 3));
  await world.scheduler.sleep(random.spread(1, 1_000));
  const body = { reason: 'it ended', replacedBy: random.chance(0.5) ? 'a' : null };
  await new Client(world, actors, 'operator').post(`/api/v1/markets/${slug}/removal`, body, true);
  world.removed.add(slug);
  await later;
}

/** Asks for a publication of some markets, or of all. */
export async function askForPublication(world: World, actors: Actors): Promise<void> {
  const markets = world.random.chance(0.4) ? 'all' : [world.random.pick(['a', 'b']), 'c'];
  await new Client(world, actors, 'operator').post('/api/v1/publications', { markets, purge: false });
}
