/**
 * Readers that poll public URLs through every fault. Each URL has one reader, whose answers come in order. So it can tell
 * whether a body went backwards: to bytes that it had before, or to an earlier state.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { historyUrl, MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { Random } from '../simulator/random.ts';
import type { Account } from './account.ts';
import { type Answer, openConnection } from './exchange.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Trial } from './trial.ts';

const CHECKPOINT_URL = '/api/v1/log/checkpoint';
const MARKETS_READ = 4;

interface Seen {
  /** Every ETag that it had. */
  readonly etags: Set<string>;
  newest: { readonly etag: string; readonly text: string; readonly progress: number } | null;
}

export interface ReadersOptions {
  readonly trial: Trial;
  readonly service: ServiceProcess;
  readonly account: Pick<Account, 'markets'>;
  /** Between two reads of one reader. */
  readonly pauseMs: number;
  /** Statuses besides 200 and 304 that a published URL may answer while the fault lasts. Default: none. */
  readonly isAllowed?: (status: number) => boolean;
}

export interface Readers {
  stop(): Promise<void>;
}

export function startReaders(options: ReadersOptions): Readers {
  const { trial, account } = options;
  const markets = account.markets.slice(0, MARKETS_READ);
  const shares = [
    [SNAPSHOT_URL, CHECKPOINT_URL],
    [MARKETS_URL, '/api/v1/openapi.json'],
    markets.flatMap((slug) => [marketUrl(slug), historyUrl(slug)]),
  ];
  const stopping = new AbortController();
  const all = Promise.all(
    shares.map((urls) => poll(options, urls, new Random(trial.random.uint32()), stopping.signal)),
  );
  all.catch(() => {});
  return {
    async stop() {
      stopping.abort();
      await all;
    },
  };
}

async function poll(
  { trial, service, pauseMs, isAllowed = () => false }: ReadersOptions,
  urls: readonly string[],
  random: Random,
  stopping: AbortSignal,
): Promise<void> {
  const connection = openConnection(service.port);
  const seen = new Map<string, Seen>(urls.map((url) => [url, unseen()]));
  for (let turn = 0; !stopping.aborted; turn++) {
    const url = urls[turn % urls.length] as string;
    const known = seen.get(url) as Seen;
    const { isServing, life } = service;
    const sentEtag = known.newest !== null && random.chance(0.5) ? known.newest.etag : null;
    let answer: Answer | null = null;
    try {
      answer = await connection.ask(url, sentEtag === null ? {} : { headers: { 'if-none-match': sentEtag } });
    } catch (error) {
      if (isServing && service.isServing && service.life === life) {
        trial.broken('a reader without an answer', `GET ${url}: ${String(error)}`);
      } else trial.count('reads while it was down');
    }
    if (answer !== null) judge(answer, { url, known, sentEtag, isServing: isServing && service.life === life });
    await sleep(answer === null ? 50 : pauseMs);
  }
  connection.close();

  function judge(
    { status, headers, text }: Answer,
    { url, known, sentEtag, isServing }: { url: string; known: Seen; sentEtag: string | null; isServing: boolean },
  ): void {
    trial.count('reads answered');
    trial.count(status === 503 && !isServing ? 'answers 503 during a start' : `answers ${status}`);
    if (status === 304) {
      if (sentEtag === null || headers.etag !== sentEtag) {
        trial.broken('a 304 that nobody asked for', `GET ${url} with ${sentEtag}: ${headers.etag}`);
      }
      return;
    }
    // Before it says that it serves, every request is answered 503.
    if (status === 503 && !isServing) return;
    if (status !== 200) {
      if (known.newest !== null && !isAllowed(status)) {
        trial.broken('a published URL is refused', `GET ${url}: ${status} ${text}`);
      }
      return;
    }
    const { etag = '' } = headers;
    const progress = progressOf(url, text);
    const { newest } = known;
    if (newest?.etag === etag) {
      if (newest.text !== text) trial.broken('two bodies under one ETag', `GET ${url}: ${etag}`);
      return;
    }
    if (known.etags.has(etag)) trial.broken('a body comes back', `GET ${url}: ${etag}, which was superseded`);
    if (newest !== null && progress < newest.progress) {
      trial.broken('a body goes backwards', `GET ${url}: from ${newest.progress} to ${progress}`);
    }
    known.etags.add(etag);
    known.newest = { etag, text, progress };
  }
}

const unseen = (): Seen => ({ etags: new Set(), newest: null });

/** A number in each body that only grows, as long as nothing is removed. */
function progressOf(url: string, text: string): number {
  if (url === CHECKPOINT_URL) return Number(text.split('\n')[1]);
  const body = JSON.parse(text) as {
    readonly generation?: number;
    readonly history?: { readonly count: number };
    readonly data?: readonly { readonly observedAt?: string }[];
  };
  if (url === SNAPSHOT_URL) return body.generation ?? Number.NaN;
  if (body.history !== undefined) return body.history.count;
  if (url !== MARKETS_URL && body.data !== undefined) return Date.parse(body.data[0]?.observedAt ?? '');
  return 0;
}
