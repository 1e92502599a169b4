/**
 * The plans of all projections in one generation. A plan that throws is dropped with its files, and HEAD records the
 * reason. If it throws for one market and can leave that market out, only this market is missed. Missed markets get refresh
 * marks: rows that were new in this generation may be on closed pages in the next one, which reads those again for a refresh only.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import { StorageUnavailable } from '../../storage/ports/errors.ts';
import type { DeferredProjection, FilesPosition, HeadValue } from '../../storage/records/publication.ts';
import { LedgerBehind, Superseded } from '../errors.ts';
import type { BundleWriter } from '../kernel/bundle.ts';
import { assertFits, PlannedFiles } from '../kernel/bundle.ts';
import type { HistoryPlan, OrderedObservation } from '../kernel/market-view.ts';
import type { MarkedMarket } from '../kernel/marks.ts';
import {
  type LeftMarkets,
  type MarketContext,
  type MarketPart,
  type MarketStep,
  type NewList,
  NO_PART,
  type PlanContext,
  type ProjectionPlan,
  type Projector,
  stateOf,
} from '../kernel/projection.ts';

/** If only a projection that missed a list needs a new one, it is tried again this often. */
const RETRY_MS = 60_000;

interface Opened {
  readonly projection: Projector;
  readonly files: PlannedFiles;
  readonly state: Json | undefined;
  /** Null: it has no plan, or its plan was dropped. */
  plan: ProjectionPlan | null;
}

type Working = Opened & { readonly plan: ProjectionPlan };

/** The result of each projection for one page of the list, by name. */
export type PageEntries = ReadonlyMap<string, readonly unknown[]>;

type ForPlan = Pick<PlanContext, 'dependencies' | 'generation' | 'before' | 'isRenderedOtherwise' | 'deferred'>;

export class PlannedProjections {
  readonly #context: ForPlan;
  readonly #bundle: BundleWriter;
  readonly #opened: Opened[] = [];
  /** The reason, by name. */
  readonly #faults = new Map<string, string>();
  /** Whether a projection with files of markets has no plan any more: then it has missed every market of the generation. */
  areAllMissed = false;

  private constructor(context: ForPlan, bundle: BundleWriter) {
    this.#context = context;
    this.#bundle = bundle;
  }

  static async open(projections: readonly Projector[], context: ForPlan, bundle: BundleWriter) {
    const planned = new PlannedProjections(context, bundle);
    for (const projection of projections) {
      const { before, dependencies } = context;
      const state = stateOf(projection, before);
      const isBehind = before?.deferred?.[projection.name] !== undefined;
      const opened: Opened = { projection, files: new PlannedFiles(dependencies, bundle), state, plan: null };
      planned.#opened.push(opened);
      await planned.#try(opened, async () => {
        opened.plan = (await projection.plan?.({ ...context, state, isBehind, files: opened.files })) ?? null;
      });
    }
    return planned;
  }

  /** More markets that some projection wants to examine, besides these. */
  unmarked(marked: readonly MarkedMarket[]): readonly MarkedMarket[] {
    const wanted = this.#working.flatMap((opened) => this.#ask(opened, (plan) => plan.unmarked?.(marked)) ?? []);
    return [...new Map(wanted.map((market) => [market.slug, market])).values()];
  }

  readonly wantsRows: NonNullable<ProjectionPlan['wantsRows']> = (...market) =>
    this.#working.some((opened) => this.#ask(opened, (plan) => plan.wantsRows?.(...market)) === true);

  /** Opens the share of one market. Null: the market must be refreshed. */
  async market(context: MarketContext) {
    const steps = new Map<Opened, MarketStep>();
    const parts: MarketPart[] = [];
    let isMissed = false;
    const fail = (error: unknown, opened: Opened): void => {
      isMissed ||= opened.projection.checkMarket !== undefined;
      steps.delete(opened);
      parts.push(this.#missed(error, opened, context));
    };
    /** Runs the work. Undefined: it has failed. */
    const guard = async <Result>(opened: Opened, work: () => Promise<Result> | undefined) => {
      try {
        return await work();
      } catch (error) {
        fail(error, opened);
        return undefined;
      }
    };
    for (const opened of this.#working) {
      const step = await guard(opened, () => opened.plan.market?.(context));
      if (step === null) return null;
      if (step !== undefined) steps.set(opened, step);
    }
    return {
      /** Whether a projection with files of markets has missed this one. */
      get isMissed(): boolean {
        return isMissed;
      },

      get position(): FilesPosition | undefined {
        for (const { position } of steps.values()) if (position !== undefined) return position;
        return undefined;
      },

      read(row: OrderedObservation): void {
        for (const [opened, step] of steps) {
          try {
            step.read?.(row);
          } catch (error) {
            fail(error, opened);
          }
        }
      },

      async flush(): Promise<void> {
        for (const [opened, step] of steps) await guard(opened, () => step.flush?.());
      },

      /** Call it once. Null: the market must be refreshed. */
      finish: async (history: HistoryPlan): Promise<MarketPart | null> => {
        for (const [opened, step] of steps) {
          const part = await guard(opened, async () => {
            const planned = await step.finish(history);
            for (const line of [...(planned?.lines ?? []), ...(planned?.gone ?? [])])
              assertFits(context.dependencies, line);
            return planned;
          });
          if (part === null) return null;
          if (part !== undefined) parts.push(part);
        }
        // The published files of a projection whose plan was dropped stay in the record.
        const known = this.#faults.size > 0 ? context.view.published?.files : undefined;
        const files = parts.find((part) => part.files !== undefined)?.files ?? known;
        return {
          lines: parts.flatMap(({ lines }) => lines),
          parts: parts.flatMap((part) => part.parts),
          gone: parts.flatMap(({ gone }) => gone),
          ...(files === undefined ? {} : { files }),
          taken: () => {
            for (const { taken } of parts) taken?.();
          },
        };
      },
    };
  }

  /** Handles a fault in the share of one market. Returns the part that is recorded instead. */
  #missed(error: unknown, opened: Opened, context: MarketContext): MarketPart {
    const part = opened.plan?.missed?.(context) ?? null;
    if (part === null) this.#drop(error, opened);
    else this.#note(error, opened);
    return part ?? NO_PART;
  }

  get needsList(): boolean {
    const { before, dependencies } = this.#context;
    const isEarly = (name: string) => {
      const passedMs = dependencies.nowMs() - (before?.deferred?.[name]?.triedAtMs ?? Number.NEGATIVE_INFINITY);
      return passedMs >= 0 && passedMs < RETRY_MS;
    };
    return this.#working.some(({ projection, plan }) => plan.needsList === true && !isEarly(projection.name));
  }

  /** Lets the projections read each page of a list of this many markets. Null: no projection needs the pages. */
  ofPage(markets: number): ((body: string) => PageEntries) | null {
    const readers = this.#working.flatMap((opened) => {
      const read = this.#ask(opened, (plan) => plan.ofPage?.(markets)) ?? null;
      return read === null ? [] : [{ opened, read }];
    });
    if (readers.length === 0) return null;
    return (body) => {
      const entries = new Map<string, readonly unknown[]>();
      for (const { opened, read } of readers) {
        entries.set(opened.projection.name, this.#ask(opened, () => read(body)) ?? []);
      }
      return entries;
    };
  }

  async list(ofPages: readonly PageEntries[], list: Omit<NewList, 'entries'>): Promise<void> {
    for (const opened of this.#working) {
      const entries = ofPages.flatMap((page) => page.get(opened.projection.name) ?? []);
      await this.#try(opened, async () => await opened.plan.list?.({ ...list, entries }));
    }
  }

  /** Call it once. Adds the files of all complete plans. */
  async finish(left: LeftMarkets) {
    const states: { [name: string]: Json } = {};
    const deferred: { [name: string]: DeferredProjection } = {};
    const { before, dependencies } = this.#context;
    let isMoreDue = false;
    const isMissedLeft = left.isMissedLeft || left.isRefreshLeft;
    const isMadeUp = ({ projection }: Opened) => !isMissedLeft || projection.checkMarket === undefined;
    for (const opened of this.#opened) {
      const { name } = opened.projection;
      let { state } = opened;
      let isCurrent = true;
      await this.#try(opened, async () => {
        if (opened.plan === null) return;
        const end = await opened.plan.finish(left);
        await this.#bundle.addFiles(opened.files);
        state = end.state;
        isCurrent = end.isCurrent !== false;
        // After a fault, another generation at once would fail in the same way.
        isMoreDue ||= end.isMoreDue === true && !this.#faults.has(name);
      });
      if (state !== undefined) states[name] = state;
      const known = before?.deferred?.[name];
      const reason = this.#faults.get(name);
      const triedAtMs = dependencies.nowMs();
      if (reason !== undefined) deferred[name] = { sinceMs: known?.sinceMs ?? triedAtMs, triedAtMs, reason };
      else if (known !== undefined && !(isCurrent && isMadeUp(opened))) deferred[name] = known;
    }
    const head: Pick<HeadValue, 'projections' | 'deferred'> = {
      projections: states,
      ...(Object.keys(deferred).length > 0 && { deferred }),
    };
    const isChanged =
      !isDeepStrictEqual(states, this.#states()) ||
      !isDeepStrictEqual(reasons(deferred), reasons(before?.deferred ?? {}));
    return { head, isChanged, isMoreDue, shown: this.#shown(states, Object.keys(deferred)) };
  }

  /** The states of projections that the last generation left. */
  #states(): { readonly [name: string]: Json } {
    const known = this.#opened.flatMap(({ projection: { name }, state }) =>
      state === undefined ? [] : [[name, state]],
    );
    return Object.fromEntries(known);
  }

  /** The fields of the snapshot. */
  #shown(states: { readonly [name: string]: Json }, deferred: readonly string[]): Partial<Snapshot> {
    const shown = this.#opened.map(({ projection: { name, shownOf } }) => {
      const state = states[name];
      return state === undefined ? {} : shownOf?.(state);
    });
    return Object.assign({}, ...shown, deferred.length === 0 ? {} : { deferred });
  }

  get #working(): readonly Working[] {
    return this.#opened.filter((opened): opened is Working => opened.plan !== null);
  }

  #ask<Answer>(opened: Opened, question: (plan: ProjectionPlan) => Answer): Answer | undefined {
    if (opened.plan === null) return undefined;
    try {
      return question(opened.plan);
    } catch (error) {
      this.#drop(error, opened);
      return undefined;
    }
  }

  async #try(opened: Opened, work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => this.#drop(error, opened));
  }

  #drop(error: unknown, opened: Opened): void {
    this.#note(error, opened);
    opened.plan = null;
    this.areAllMissed ||= opened.projection.checkMarket !== undefined;
  }

  /** @throws the error if the projection did not cause it: then the whole generation is tried again */
  #note(error: unknown, { projection: { name } }: Opened): void {
    if (error instanceof StorageUnavailable || error instanceof Superseded || error instanceof LedgerBehind)
      throw error;
    this.#faults.set(name, error instanceof Error ? error.message : String(error));
  }
}

/** The deferred projections without the time of the last attempt, which alone needs no new generation. */
function reasons(deferred: { readonly [name: string]: DeferredProjection }) {
  return Object.entries(deferred).map(([name, { sinceMs }]) => ({ name, sinceMs }));
}

/** The shares of all projections in one market. */
export type MarketSteps = NonNullable<Awaited<ReturnType<PlannedProjections['market']>>>;
