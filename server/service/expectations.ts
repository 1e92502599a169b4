/** When the published markets expect their next values: for the health check and the metrics. */
import { Expectations } from '../../contract/files/late-sources.ts';
import { publicKey } from '../../contract/files/public-objects.ts';
import type { Market } from '../../contract/values/market.ts';
import type { ETag, ObjectStore } from '../../storage/ports/object-store.ts';
import { startWakeLoop, type WakeLoop } from '../loops/wake-loop.ts';

const INTERVAL_MS = 60_000;

export interface ExpectationsOptions {
  readonly objects: Pick<ObjectStore, 'get'>;
  /** Awaited after each page, so that requests get their turn. */
  readonly yieldToEventLoop: () => Promise<void>;
  readonly report: (what: string, cause: unknown) => unknown;
}

export interface ExpectationsLoop extends WakeLoop {
  /** Of the published list, as it was up to a minute ago. Null until it was read for the first time. */
  current(): Expectations | null;
}

/** Reads the list again when it has changed: at once, and then once a minute. */
export function startExpectationsLoop({ objects, yieldToEventLoop, report }: ExpectationsOptions): ExpectationsLoop {
  let current: Expectations | null = null;
  let seen: ETag | null = null;

  async function round(stopping: AbortSignal): Promise<void> {
    const expectations = new Expectations();
    let etag: ETag | null = null;
    for (let cursor: string | null = null; ; ) {
      const key = publicKey(cursor === null ? { kind: 'market-list' } : { kind: 'market-list-page', cursor });
      const found = await objects.get(key, cursor === null && seen !== null ? { ifNoneMatch: seen } : {});
      // Not published yet, not changed, or swept meanwhile: the next round looks again.
      if (found.kind !== 'found' || stopping.aborted) return;
      etag ??= found.etag;
      const { data, page } = JSON.parse(Buffer.from(found.body).toString('utf8')) as {
        readonly data: readonly Pick<Market, 'sources'>[];
        readonly page: { readonly nextCursor: string | null };
      };
      for (const market of data) expectations.add(market);
      cursor = page.nextCursor;
      if (cursor === null) break;
      await yieldToEventLoop();
    }
    [current, seen] = [expectations, etag];
  }

  const loop = startWakeLoop({
    round,
    intervalMs: INTERVAL_MS,
    onError: (cause) => report('the list was not read for late sources', cause),
  });
  loop.wake();
  return { ...loop, current: () => current };
}
