/**
 * Reads objects of a directory store for many readers at once. A thread of its own reads batch after batch, each with all
 * reads that have begun since the one before: two messages in all, where the pool of libuv takes two trips for each file.
 *
 * The thread waits for the disk. When it takes long, its batch is read by the usual reader too, and so is everything else
 * until the thread is back: so a disk that is slow or hangs holds up nobody for longer than it did without the thread.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { DirectoryReader } from './directory-reader.ts';
import { checkObjectKey } from './object-rules.ts';
import type { ETag, GetResult, ObjectStore } from './object-store.ts';
import type { ReadAnswers, ReadBatch } from './reader-thread.ts';

const SOURCE = new URL('./reader-thread.ts', import.meta.url);
/** In the package there are no sources: scripts/build-package.ts builds it to this place. */
const BUILT = new URL('../dist/reader-thread.mjs', import.meta.url);

/** The first turn of the event loop with so many reads starts the thread: for few reads, the pool is as cheap. */
const STARTS_AT = 3;
const MAX_BATCH = 64;

/** A thread that takes longer for a batch waits for a disk. */
const SLOW_AFTER_MS = 50;

interface Read {
  readonly key: string;
  readonly options: { readonly ifNoneMatch?: ETag };
  readonly settle: (result: GetResult | Promise<GetResult>) => void;
}

export class BatchReader implements Pick<ObjectStore, 'get'> {
  readonly #usual: DirectoryReader;
  #thread: Worker | null = null;
  #isReady = false;
  /** The batch that the thread has. */
  #underWay: readonly Read[] | null = null;
  /** It takes long. */
  #isSlow = false;
  #waiting: Read[] = [];
  #isTurnEnding = false;

  constructor(usual: DirectoryReader) {
    this.#usual = usual;
  }

  get(key: string, options: { readonly ifNoneMatch?: ETag } = {}): Promise<GetResult> {
    return new Promise((settle) => {
      checkObjectKey(key);
      this.#waiting.push({ key, options, settle });
      if (this.#isTurnEnding) return;
      this.#isTurnEnding = true;
      setImmediate(() => {
        this.#isTurnEnding = false;
        this.#begin();
      });
    });
  }

  #begin(): void {
    if (this.#waiting.length >= STARTS_AT) this.#thread ??= this.#start();
    if (!this.#isReady || this.#isSlow) this.#readAsUsual(this.#waiting.splice(0));
    else if (this.#underWay === null && this.#waiting.length > 0) this.#send(this.#waiting.splice(0, MAX_BATCH));
  }

  #readAsUsual(reads: readonly Read[]): void {
    for (const { key, options, settle } of reads) settle(this.#usual.get(key, options));
  }

  #send(reads: readonly Read[]): void {
    this.#underWay = reads;
    const batch: ReadBatch = {
      paths: reads.map(({ key }) => this.#usual.pathOf(key)),
      keys: reads.map(({ key }) => key),
      etags: reads.map(({ options }) => options.ifNoneMatch),
    };
    this.#thread?.postMessage(batch);
    setTimeout(() => {
      if (this.#underWay !== reads) return;
      this.#isSlow = true;
      this.#readAsUsual(reads);
      this.#begin();
    }, SLOW_AFTER_MS).unref();
  }

  #answered({ heads, bodies }: ReadAnswers): void {
    // Reads that took too long are on their usual way.
    const reads = this.#isSlow ? [] : (this.#underWay ?? []);
    this.#underWay = null;
    this.#isSlow = false;
    let start = 0;
    for (const [index, { key, options, settle }] of reads.entries()) {
      const head = heads[index] ?? null;
      if (head === null) settle(this.#usual.get(key, options));
      else if (head === 'not-modified') settle({ kind: head });
      else {
        settle({ kind: 'found', ...head, body: bodies.subarray(start, start + head.sizeBytes) });
        start += head.sizeBytes;
      }
    }
    this.#begin();
  }

  #start(): Worker {
    const thread = new Worker(existsSync(SOURCE) ? SOURCE : BUILT, { name: 'objects' });
    thread.unref();
    thread.on('message', (message: ReadAnswers | 'ready') => {
      if (message === 'ready') this.#isReady = true;
      else this.#answered(message);
    });
    // Without it, everything is read as usual.
    thread.on('error', () => {
      this.#isReady = false;
      this.#readAsUsual(this.#underWay ?? []);
      this.#begin();
    });
    return thread;
  }
}
