/**
 * The expected public state: an account of all writes, independent of the code under test. Each writer has its own source,
 * and waits for an answer before its next write. So the effect of its writes does not depend on other writers.
 */
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import type { ShownObservation } from './published.ts';
import type { Random } from './random.ts';

export const KNOWN_SLUGS = ['a', 'b', 'c', 'd', 'e'] as const;
/** The first batch to some of these markets also defines them. */
const SLUGS = [...KNOWN_SLUGS, 'f', 'g', 'h'];

/** A new year begins soon after a writer's first row, and later rows may be of the year before. */
const FIRST_DAY_MS = Date.UTC(2025, 10, 20);
const DAY_MS = 86_400_000;
/** Some rows are announced: their moments come while the world runs, or after it. */
const ANNOUNCED_FROM_MS = Date.parse('2026-10-01T12:00:00Z');
const isAnnounced = (day: number) => day % 6 === 5;

export interface SentBatch {
  readonly mode: IngestMode;
  readonly partial: boolean;
  readonly records: readonly IngestRecordInput[];
  /** The expected outcome. */
  readonly versions: readonly SentVersion[];
  /** Its report does not say that all of it is public. */
  readonly isUpload?: true;
}

/** A version of an observation, and the number of versions up to it. */
export interface SentVersion {
  readonly market: string;
  readonly identity: string;
  /** Null is a retraction. */
  readonly amount: number | null;
  readonly count: number;
}

/** Versions of each observation, oldest first; null is a retraction. By market, then by source and instant. */
export type Expected = Map<string, Map<string, (number | null)[]>>;

interface Own {
  readonly market: string;
  readonly day: number;
}

/** One writer, and the outcomes of its writes. */
export class Writer {
  readonly name: string;
  readonly #isPlain: boolean;
  readonly #random: Random;
  readonly #expected: Expected;
  readonly #own: Own[] = [];
  readonly #appended: SentBatch[] = [];
  #day: number;
  #amount = 1_000;

  /** @param isPlain each batch is about one market and contradicts nothing, so none depends on another market */
  constructor(name: string, random: Random, expected: Expected, isPlain = false) {
    this.name = name;
    this.#isPlain = isPlain;
    this.#random = random;
    this.#expected = expected;
    this.#day = 40;
  }

  next(): SentBatch {
    const random = this.#random;
    const kind = random.weighted([
      [6, 'append' as const],
      [3, 'backfill' as const],
      [this.#own.length > 0 ? 3 : 0, 'correct' as const],
      [this.#own.length > 0 ? 1 : 0, 'retract' as const],
      [this.#own.length > 0 && !this.#isPlain ? 1 : 0, 'conflict' as const],
      [this.#appended.length > 0 ? 1 : 0, 'again' as const],
    ]);
    if (kind === 'again') return { ...random.pick(this.#appended), versions: [] };
    if (kind === 'append' || kind === 'backfill') {
      const batch = this.#batch('append', false, this.#fresh(kind === 'backfill'));
      this.#appended.push(batch);
      return batch;
    }
    const picked = [...new Set(Array.from({ length: random.int(1, 3) }, () => random.pick(this.#own)))];
    const old = this.#isPlain ? picked.filter(({ market }) => market === picked[0]?.market) : picked;
    if (kind === 'retract') return this.#batch('append', false, [], old);
    if (kind === 'correct') return this.#batch('correct', false, old);
    const partial = random.chance(0.5);
    return this.#conflicting(partial, old, this.#fresh(false));
  }

  /** More than fits one transaction. */
  many(): SentBatch {
    const markets = ['a', 'b', 'c', 'd'];
    const rows = markets.flatMap((market) => Array.from({ length: 30 }, () => ({ market, day: this.#day++ })));
    return this.#batch(
      'append',
      false,
      this.#isPlain ? rows.slice(0, 100).map((row) => ({ ...row, market: 'a' })) : rows,
    );
  }

  /** Rows for one market, in order. */
  rows(market: string, count: number): SentBatch {
    const days = Array.from({ length: count }, () => ({ market, day: this.#day++ }));
    return this.#batch('append', false, days);
  }

  #fresh(isBackfill: boolean): Own[] {
    const random = this.#random;
    const count = random.weighted([
      [4, 1],
      [2, 2],
      [1, 4],
    ]);
    const rows: Own[] = [];
    const only = this.#isPlain ? random.pick(SLUGS) : null;
    for (let index = 0; index < count; index++) {
      const market = only ?? random.pick(random.chance(0.8) ? KNOWN_SLUGS : SLUGS);
      const day = isBackfill ? random.int(0, 30) : this.#day++;
      const isNew = ![...this.#own, ...rows].some((own) => own.market === market && own.day === day);
      if (isNew) rows.push({ market, day });
    }
    return rows.length > 0 ? rows : [{ market: only ?? 'a', day: this.#day++ }];
  }

  /** Rows that contradict known ones are refused, and the whole batch too, unless it is partial. */
  #conflicting(partial: boolean, old: readonly Own[], fresh: readonly Own[]): SentBatch {
    const records = [...old, ...fresh].map((own) => this.#observation(own, this.#amount++));
    const taken = partial ? fresh : [];
    const versions = taken.map((own) => this.#add(own, this.#amountOf(records, own)));
    return { mode: 'append', partial, records: [...this.#definitions(fresh), ...records], versions };
  }

  #batch(mode: IngestMode, partial: boolean, rows: readonly Own[], retracted: readonly Own[] = []): SentBatch {
    const records = rows.map((own): IngestRecordInput => {
      const amount = this.#nextAmount(own);
      const record = this.#observation(own, amount);
      const isStatedAgain = this.#isRetracted(own, amount) && isReinstated(amount);
      return isStatedAgain ? ({ ...record, reinstated: true } as IngestRecordInput) : record;
    });
    const versions = [
      ...rows.flatMap((own) => {
        const amount = this.#amountOf(records, own);
        return this.#isRetracted(own, amount) && !isReinstated(amount) ? [] : [this.#add(own, amount)];
      }),
      ...retracted.flatMap((own) => (this.#versions(own).at(-1) === null ? [] : [this.#add(own, null)])),
    ];
    const retractions = retracted.map(({ market, day }): IngestRecordInput => {
      return { type: 'retraction', ...this.#identity(market, day), ...retractionKindOf({ day }), reason: 'a test' };
    });
    return { mode, partial, records: [...this.#definitions(rows), ...records, ...retractions], versions };
  }

  /** Every other correction of what was corrected before goes back to the version before the newest. */
  #nextAmount(own: Own): number {
    const next = this.#amount++;
    const before = this.#versions(own).at(-2) ?? null;
    return next % 2 === 0 && before !== null ? before : next;
  }

  /** Whether this amount was retracted, with the kind of the retraction, and nothing was stated since. */
  #isRetracted(own: Own, amount: number): boolean {
    const versions = this.#versions(own);
    return 'kind' in retractionKindOf(own) && versions.at(-1) === null && versions.at(-2) === amount;
  }

  #amountOf(records: readonly IngestRecordInput[], { market, day }: Own): number {
    const { observedAt } = this.#identity(market, day);
    const found = records.find(
      (record) => record.type === 'observation' && record.market === market && record.observedAt === observedAt,
    );
    return (found as { amountMinor: number }).amountMinor;
  }

  #definitions(rows: readonly Own[]): IngestRecordInput[] {
    const slugs = new Set(
      rows.map(({ market }) => market).filter((slug) => !KNOWN_SLUGS.some((known) => known === slug)),
    );
    return [...slugs].map(definition);
  }

  #add(own: Own, amount: number | null): SentVersion {
    if (!this.#own.some(({ market, day }) => market === own.market && day === own.day)) this.#own.push(own);
    const { market } = own;
    const identity = identityOf(this.#identity(market, own.day));
    return { market, identity, amount, count: expect(this.#expected, { market, identity, amount }) };
  }

  #versions({ market, day }: Own): readonly (number | null)[] {
    return this.#expected.get(market)?.get(identityOf(this.#identity(market, day))) ?? [];
  }

  #identity(market: string, day: number) {
    const atMs = isAnnounced(day) ? ANNOUNCED_FROM_MS + day * 250 : FIRST_DAY_MS + day * DAY_MS;
    const observedAt = new Date(atMs).toISOString();
    return { market, metric: 'price', observedAt, sourceUrl: `https://${this.name}.example.com/` };
  }

  #observation({ market, day }: Own, amountMinor: number): IngestRecordInput {
    return {
      type: 'observation',
      ...this.#identity(market, day),
      amountMinor,
      currency: 'USD',
      sourceLabel: this.name,
      confidence: 'high',
      status: 'final',
      outlierConfirmed: true,
      ...(isAnnounced(day) ? { announced: 'when-ahead' as const } : {}),
    };
  }
}

/** Adds a version to the expected public state. Returns the number of versions. */
function expect(expected: Expected, { market, identity, amount }: Omit<SentVersion, 'count'>): number {
  const ofMarket = expected.get(market) ?? new Map<string, (number | null)[]>();
  expected.set(market, ofMarket);
  const versions = ofMarket.get(identity) ?? [];
  ofMarket.set(identity, versions);
  return versions.push(amount);
}

export function copyOf(expected: Expected): Expected {
  return new Map(
    [...expected].map(([market, known]) => [market, new Map([...known].map(([of, versions]) => [of, [...versions]]))]),
  );
}

/** The expected public state if only these batches are left. */
export function expectOnly(expected: Expected, base: Expected, batches: Iterable<SentBatch>): void {
  expected.clear();
  for (const [market, known] of copyOf(base)) expected.set(market, known);
  for (const { versions } of batches) for (const version of versions) expect(expected, version);
}

export function marketsOf({ records }: SentBatch): readonly string[] {
  return records.map((record) => (record.type === 'market' ? record.slug : record.market));
}

export function definition(slug: string): IngestRecordInput {
  const unit = { quantity: 1, of: 'unit' };
  return { type: 'market', slug, name: `Market ${slug}`, kind: 'test', nativeCurrency: 'USD', unit };
}

function identityOf({ sourceUrl, observedAt }: Pick<ShownObservation, 'sourceUrl' | 'observedAt'>): string {
  return `${sourceUrl} ${Date.parse(observedAt)}`;
}

/** The versions in a published history, by source and instant, oldest first. */
export function versionsShown(history: readonly ShownObservation[]): Map<string, (number | null)[]> {
  const shown = new Map<string, (number | null)[]>();
  for (const observation of history) {
    const identity = identityOf(observation);
    const versions = shown.get(identity) ?? [];
    // What becomes effective is stated once more by the service itself. Writers never repeat an amount.
    if (observation.announced && versions[0] === observation.amountMinor) continue;
    // A published history is newest first.
    versions.unshift(observation.amountMinor);
    shown.set(identity, versions);
  }
  return shown;
}

/** Always the same for one observation, so that a second retraction changes nothing. */
function retractionKindOf({ day }: Pick<Own, 'day'>): { readonly kind?: 'mistake' | 'withdrawn' } {
  const kinds = [{ kind: 'mistake' }, { kind: 'withdrawn' }, {}] as const;
  return kinds[day % kinds.length] as (typeof kinds)[number];
}

/** Whether a row that repeats a retracted amount says that it knows of the retraction. Without it, nothing changes. */
function isReinstated(amount: number): boolean {
  return amount % 4 < 2;
}
