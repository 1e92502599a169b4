/** One simulated world: storage, clock, chance, and the processes on them. */
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { Ledger } from '../../storage/ports/ledger.ts';
import type { ObjectStore } from '../../storage/ports/object-store.ts';
import { newUlid } from '../../storage/ports/ulid.ts';
import { HEAD_KEY } from '../../storage/records/publication.ts';
import { openMemoryUploads } from '../storage/memory-uploads.ts';
import type { BaseWorld } from './base-world.ts';
import { batchesAnsweredBy, type Due, dueIn, isFileRecorded, isMarket, publishedIn, removedIn } from './facts.ts';
import type { LedgerItems } from './ledger-items.ts';
import { copyOf, type Expected, expectOnly, type SentBatch, versionsShown } from './model.ts';
import { type Conditions, Fates, type Incarnation, Operations, type Trace } from './processes.ts';
import { shownHistory } from './published.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';
import { type Committed, type LedgerGaps, SimulatedLedger } from './simulated-ledger.ts';
import { type ObjectEntries, objectsPortOf, type StoreGaps } from './simulated-objects.ts';
import { StoreWatch } from './store-watch.ts';
import { type Host, isOutdated, type Settings, START_MS, WIRING, type Wiring } from './wiring.ts';

/** A fault, and the rule that it breaks. */
export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

/** Switches off a guard of the code under test, for tests of the simulator. */
export interface Alterations {
  readonly wiring?: Partial<Wiring>;
  /** Wraps the ports of each process, by the process's name. */
  readonly ledger?: (ledger: Ledger, process: string) => Ledger;
  readonly objects?: (objects: ObjectStore, process: string) => ObjectStore;
  /** Conditions that the storage does not check. */
  readonly ledgerGaps?: LedgerGaps;
  readonly storeGaps?: StoreGaps;
}

export class World {
  readonly seed: number;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly fates: Fates;
  readonly operations: Operations;
  readonly trace: Trace;
  readonly ledger: SimulatedLedger;
  readonly objects: ObjectEntries;
  readonly watch: StoreWatch;
  readonly uploads = openMemoryUploads(() => this.nowMs(), false);
  readonly wiring: Wiring;
  /** The present deployment. A process keeps the one of its start. */
  settings: Settings;
  /** All processes. */
  readonly mortals: { die(): void }[] = [];
  readonly expected: Expected;
  /** Acknowledged batches, by id. */
  readonly acknowledged = new Map<string, SentBatch>();
  /** Markets whose removal was acknowledged. */
  readonly removed = new Set<string>();
  /** Markets with a torn transaction, whose content is not known. */
  readonly torn = new Set<string>();
  /** The ledger was restored: a part of its audit may be lost. */
  hasGoneBack = false;
  violation: Violation | null = null;
  /** Batches that may have been reported as public. */
  readonly untold = new Set<string>();
  /** Whether batches come through the write API. */
  usesPipeline = true;
  /** Writers and publishers are stopped. */
  isDown = false;
  readonly #base: BaseWorld;
  readonly #restoreListeners: (() => void)[] = [];
  /** Rejects when the world ends. */
  readonly ended: Promise<never>;
  #end: (error: Error) => void = () => undefined;
  readonly #alterations: Alterations;
  #numbers = 0;
  readonly #listeners: ((committed: Committed) => void)[] = [];

  constructor(
    seed: number,
    base: BaseWorld,
    conditions: Conditions,
    settings: Settings,
    trace: Trace,
    alterations: Alterations,
  ) {
    this.seed = seed;
    this.settings = settings;
    this.ended = new Promise((_, reject) => {
      this.#end = reject;
    });
    this.ended.catch(() => undefined);
    this.random = new Random(seed);
    const storageRandom = new Random(seed ^ 0x5bd1e995);
    this.scheduler = new Scheduler(storageRandom);
    this.fates = new Fates(conditions, storageRandom);
    this.trace = trace;
    this.operations = new Operations(this.scheduler, this.fates, storageRandom, trace);
    this.objects = new Map(base.objects);
    this.#base = base;
    this.expected = copyOf(base.expected);
    const fail = (rule: string, detail: string) => this.fail(rule, detail);
    const isThere = (slug: string) => isMarket(this.items, slug);
    this.watch = new StoreWatch(this.objects, {
      nowMs: () => this.scheduler.elapsedMs,
      fail,
      isThere,
      isDoubtful: () => publishedIn(this.items).isDoubtful,
      committedSize: () => publishedIn(this.items).logSize,
      projections: () => publishedIn(this.items).projections,
      areFilesBehind: () => publishedIn(this.items).areFilesBehind,
      isRecorded: (name) => isFileRecorded(this.items, name),
    });
    const onCommit = (committed: Committed) => {
      this.#checkAnswers(committed);
      for (const listener of this.#listeners) listener(committed);
    };
    this.ledger = new SimulatedLedger(
      base.items.copy(),
      this.operations,
      conditions,
      storageRandom,
      onCommit,
      alterations.ledgerGaps,
    );
    this.wiring = { ...WIRING, ...alterations.wiring };
    this.#alterations = alterations;
  }

  get items(): LedgerItems {
    return this.ledger.items;
  }

  nowMs(): number {
    return START_MS + Math.floor(this.scheduler.elapsedMs);
  }

  /** Pending calls of the storage are dropped. */
  end(): void {
    this.#end(new StorageUnavailable('the world has ended'));
  }

  /** Unique in this world. */
  newNumber(): number {
    return ++this.#numbers;
  }

  /** Ends the run. The first violation counts. */
  fail(rule: string, detail: string): void {
    this.note('oracle', 'VIOLATION', `${rule}: ${detail}`);
    this.violation ??= { rule, detail };
    this.scheduler.stop();
  }

  killAll(): void {
    for (const mortal of this.mortals) mortal.die();
  }

  /** The work that is due, by the ledger and the deployment. */
  due(): Due {
    const due = dueIn(this.items);
    const isOld = isOutdated(this.items.committed(HEAD_KEY)?.value, this.settings);
    return isOld ? { ...due, publishing: [...due.publishing, 'what is deployed'] } : due;
  }

  onRestored(listener: () => void): void {
    this.#restoreListeners.push(listener);
  }

  /** Continues with an older ledger: writes that it lacks never happened. */
  goBack(isKnown: (batch: string) => boolean): void {
    this.isDown = true;
    this.hasGoneBack = true;
    for (const batch of this.acknowledged.keys()) if (!isKnown(batch)) this.acknowledged.delete(batch);
    const removed = removedIn(this.items);
    for (const slug of this.removed) if (!removed.includes(slug)) this.removed.delete(slug);
    expectOnly(this.expected, this.#base.expected, this.acknowledged.values());
    this.watch.ledgerGoesBack();
  }

  /** Lets all processes continue. */
  restored(): void {
    this.isDown = false;
    for (const listener of this.#restoreListeners) listener();
  }

  note(actor: string, what: string, detail = ''): void {
    this.trace.note(this.scheduler.elapsedMs, actor, what, detail, '');
  }

  onCommit(listener: (committed: Committed) => void): void {
    this.#listeners.push(listener);
  }

  /** The part of this world that one life of a process has. */
  hostOf(life: Incarnation): Host {
    const { scheduler, random } = this;
    const process = life.name;
    let attempts = 0;
    const ledger = this.ledger.portOf(life);
    const objects = objectsPortOf(this.objects, this.operations, this.watch, life, this.#alterations.storeGaps);
    return {
      ledger: this.#alterations.ledger?.(ledger, process) ?? ledger,
      objects: this.#alterations.objects?.(objects, process) ?? objects,
      uploads: this.uploads,
      settings: this.settings,
      nowMs: () => this.nowMs(),
      newAttemptId: () => `${process}-${++attempts}`,
      newId: (prefix) => `${prefix}_${newUlid(this.nowMs(), (count) => random.bytes(count))}`,
      random: () => random.unit(),
      randomBytes: (count) => random.bytes(count),
      pause: (milliseconds) =>
        new Promise((resolve) => {
          scheduler.after(milliseconds, () => {
            if (!life.dead) resolve();
          });
        }),
    };
  }

  /** A batch that is reported as public must be public at that moment. */
  #checkAnswers({ changes }: Committed): void {
    for (const batch of batchesAnsweredBy(changes)) {
      for (const { market, identity, count } of this.acknowledged.get(batch)?.versions ?? []) {
        const shown = versionsShown(shownHistory(this.objects, market)).get(identity)?.length ?? 0;
        if (shown < count && !this.torn.has(market)) {
          this.fail(
            'told-too-early',
            `batch ${batch} is reported as public; ${market} shows ${shown} of ${count} of ${identity}`,
          );
        }
      }
    }
  }
}
