/** What must hold when the faults are over: nothing is left to do, the public bytes are whole, and the account agrees. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HealthDocument } from '../../contract/bodies/health.ts';
import { historyUrl, marketUrl } from '../../contract/files/routes.ts';
import type { Observation } from '../../contract/values/metric.ts';
import { verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { httpReader } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import type { Account, AcknowledgedWrite, Row } from './account.ts';
import { ANSWER_LIMIT_MS, type Answer, type Connection, openConnection } from './exchange.ts';
import type { ServiceProcess } from './service-process.ts';
import type { Trial } from './trial.ts';

/** Believed because the service is started with its address as a proxy's: its reads are not from the cache. */
export const ORACLE_IS_PROXY = { TIDEMARK_PROXIES: '127.0.0.1' } as const;

/** A schedule finds forgotten work once a minute. */
const SETTLED_WITHIN_MS = 150_000;

export interface Oracle {
  /** Waits until nothing is left to do. Writers may wait meanwhile, but must not write. */
  settle(): Promise<void>;
  /** `verify`, and `verify --log`, as of one settled moment. Remembers the checkpoint for the next time. */
  verify(account: Account): Promise<void>;
  /** Reads all that is public, and compares it with what was acknowledged. */
  compare(account: Account): Promise<void>;
  /** Repeats acknowledged writes: the answers must be those of before. */
  replay(writes: readonly AcknowledgedWrite[]): Promise<void>;
  close(): void;
}

export function createOracle(trial: Trial, service: ServiceProcess): Oracle {
  const connection = openConnection(service.port);
  let seen: { readonly checkpoint: string; readonly vkeys: readonly string[] } | null = null;
  const reader = (): PublicReader => {
    const read = httpReader(`http://127.0.0.1:${service.port()}`);
    return async (url, headers) => {
      const late = new AbortController();
      const asked = read(url, { ...headers, 'cache-control': 'no-cache' });
      const tooLate = sleep(ANSWER_LIMIT_MS, null, { signal: late.signal }).catch(() => null);
      const answer = await Promise.race([asked, tooLate]).finally(() => late.abort());
      if (answer !== null) return answer;
      throw new Error(`GET ${url} had no answer within ${ANSWER_LIMIT_MS} ms`);
    };
  };

  async function settle(): Promise<void> {
    let last = '';
    for (const untilMs = performance.now() + SETTLED_WITHIN_MS; performance.now() < untilMs; await sleep(200)) {
      const { status, text } = await askFor(connection, service, '/healthz');
      last = text;
      const { marksDue, queue, deferred, publishLagSeconds } = JSON.parse(text) as HealthDocument;
      if (status === 200 && [marksDue, queue, deferred, publishLagSeconds].every((number) => number === 0)) {
        // The report may be a second old, and so older than the newest write.
        await sleep(1_100);
        const again = JSON.parse((await askFor(connection, service, '/healthz')).text) as HealthDocument;
        if (again.marksDue === 0 && again.queue === 0 && again.publishLagSeconds === 0) return;
      }
    }
    trial.broken('work is left', last);
  }

  return {
    settle,
    async verify(account) {
      const { findings } = await verify(reader(), { settled: true, removed: [...account.removed] });
      for (const { rule, url, detail } of findings) trial.broken(`verify finds ${rule}`, `${url} ${detail}`);
      const report = await verifyLog(reader(), { vkeys: seen?.vkeys ?? [], seen: seen?.checkpoint ?? null });
      for (const { rule, url, detail } of report.findings) trial.broken(`verify finds ${rule}`, `${url} ${detail}`);
      if (report.checkpoint !== null) seen = { checkpoint: report.checkpoint, vkeys: report.vkeys };
      trial.count('times verified');
    },
    async compare(account) {
      const markets = new Set(account.rows.flatMap(({ rows }) => rows.map(({ market }) => market)));
      const shown = new Map<string, number>();
      for (const market of [...markets].filter((slug) => !account.removed.has(slug))) {
        for (const row of await rowsOf(reader(), market)) {
          const name = nameOf(row);
          if (shown.has(name)) trial.broken('a row is public twice', name);
          shown.set(name, row.amountMinor);
        }
      }
      for (const slug of account.removed) {
        const { status } = await reader()(marketUrl(slug));
        if (status !== 410) trial.broken('an acknowledged removal is lost', `${slug} answers ${status}`);
      }
      compareRows(trial, account, shown);
      await compareUploads(trial, service, connection, account);
    },
    async replay(writes) {
      for (const write of writes) {
        const { method, path, headers, body, status, text } = write;
        const again = await askFor(connection, service, path, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        trial.count('writes replayed');
        if (again.status !== status || again.text !== text || again.headers['idempotency-replayed'] !== 'true') {
          trial.broken('an acknowledged write is lost', `${method} ${path} again: ${again.status} ${again.text}`);
        }
      }
    },
    close: connection.close,
  };
}

/** What the health check says, on a connection of its own. Without an answer the status is 0. */
export async function healthOf(service: ServiceProcess): Promise<Answer> {
  const connection = openConnection(service.port);
  try {
    return await connection.ask('/healthz');
  } catch (error) {
    return { status: 0, headers: {}, text: String(error) };
  } finally {
    connection.close();
  }
}

/** All of it, as of one moment: nobody may write meanwhile. */
export async function verifyAll(oracle: Oracle, account: Account): Promise<void> {
  await oracle.settle();
  await oracle.verify(account);
  await oracle.compare(account);
}

/** Asks until the answer is not about the rate, as an operator unless a credential is given. */
async function askFor(
  connection: Connection,
  service: ServiceProcess,
  path: string,
  asked: Parameters<Connection['ask']>[1] = {},
) {
  const headers = { authorization: `Bearer ${service.operatorKey()}`, ...asked.headers };
  for (;;) {
    const answer = await connection.ask(path, { ...asked, headers });
    if (answer.status !== 429) return answer;
    await sleep(1_000);
  }
}

function nameOf({ market, day }: Omit<Row, 'amountMinor'>): string {
  return `${market} on ${day}`;
}

async function rowsOf(reader: PublicReader, market: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let url: string | null = historyUrl(market); url !== null; ) {
    const { status, body } = await reader(url);
    if (status === 404 && rows.length === 0) return [];
    if (status !== 200) throw new Error(`GET ${url} answers ${status}`);
    const { data, page } = JSON.parse(Buffer.from(body).toString()) as {
      readonly data: readonly Observation[];
      readonly page: { readonly nextCursor: string | null };
    };
    for (const one of data) {
      if (one.kind !== 'money') continue;
      rows.push({ market, day: one.observedAt.slice(0, 10), amountMinor: one.amountMinor ?? Number.NaN });
    }
    url = page.nextCursor === null ? null : `${historyUrl(market)}?cursor=${page.nextCursor}`;
  }
  return rows;
}

function compareRows(trial: Trial, account: Account, shown: ReadonlyMap<string, number>): void {
  const sent = new Set<string>();
  for (const { name, rows, standing } of account.rows) {
    const left = rows.filter(({ market }) => !account.removed.has(market));
    const there = left.filter((row) => shown.get(nameOf(row)) === row.amountMinor);
    for (const row of left) sent.add(nameOf(row));
    if (there.length === left.length) continue;
    const of = `${there.length} of ${left.length} rows of ${name} are public`;
    if (standing === 'acknowledged') trial.broken('an acknowledged write is lost', of);
    else if (there.length > 0) trial.broken('half a write', `${of}, which had no answer`);
    else trial.count('unknown writes that are not there');
  }
  for (const name of shown.keys()) if (!sent.has(name)) trial.broken('a row that nobody sent', name);
  trial.count('rows public', shown.size);
}

async function compareUploads(
  trial: Trial,
  service: ServiceProcess,
  connection: Connection,
  account: Account,
): Promise<void> {
  for (const [id, records] of account.uploads) {
    const { status, text } = await askFor(connection, service, `/api/v1/ingest/uploads/${id}`);
    const upload = JSON.parse(text) as { readonly state?: string; readonly counts?: { readonly accepted: number } };
    // The definition of a market that is known already is unchanged.
    const isWhole = upload.state === 'applied' && (upload.counts?.accepted ?? 0) >= records - 1;
    if (!isWhole) trial.broken('an acknowledged write is lost', `upload ${id}: ${status} ${text}`);
  }
  if (account.takedowns.size === 0) return;
  const done = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { text } = await askFor(connection, service, `/api/v1/takedowns${cursor === '' ? '' : `?cursor=${cursor}`}`);
    const listed = JSON.parse(text) as {
      readonly data: readonly { readonly id: string; readonly state: string }[];
      readonly page: { readonly nextCursor: string | null };
    };
    for (const { id, state } of listed.data) if (state === 'done') done.add(id);
    cursor = listed.page.nextCursor;
  }
  for (const id of account.takedowns) {
    if (!done.has(id)) trial.broken('an acknowledged write is lost', `takedown ${id} is not done`);
  }
}
