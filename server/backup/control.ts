/**
 * The door through which commands reach the process that has the ledger open: a Unix socket in the data folder. Its mode
 * is 600, so the kernel admits the folder's owner alone. It is on no port, so no proxy can open it to the network.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import type { DailyOutcome, KeepOutcome } from '../../publisher/kernel/projection.ts';
import type { CopyProgress } from '../../storage/sqlite/sqlite-copy.ts';
import { LEDGER_FILE } from '../folder/data-folder.ts';
import type { DailyLoop, ToKeep } from '../loops/daily-loop.ts';
import { StartError } from '../service/start-error.ts';
import { ADDRESS_URL_PATH, askControl, socketOf } from './control-socket.ts';
import { checkRoom, sizeOf } from './copied-files.ts';

const SNAPSHOT_URL_PATH = '/snapshot';
export const DAILY_URL_PATH = '/daily';
const SNAPSHOT_FILE = /^snapshot-[0-9a-f-]{36}\.sqlite(-journal)?$/;

type Line = { readonly copied: number; readonly of: number } | { readonly file: string } | { readonly error: string };

export interface ControlOptions {
  readonly folder: string;
  readonly baseUrl: string;
  readonly copyLedger: (path: string, progress: CopyProgress) => Promise<void>;
  readonly daily: Pick<DailyLoop, 'make' | 'keep'>;
  readonly report: (what: string, cause: unknown) => void;
}

/** A request to make the daily files of a projection, to keep the files of a day, or to stop keeping them. */
export type AskDaily = readonly [projection: string] | readonly [projection: string, ...toKeep: ToKeep];

export type AskedOutcome = DailyOutcome['kind'] | KeepOutcome;

export type DailyAnswer =
  | { readonly outcome: { readonly kind: AskedOutcome; readonly date: string } | null }
  | { readonly error: string };

export interface Control {
  /** Cancels a snapshot that is being made. Resolves when the ledger is no longer used. */
  stop(): Promise<void>;
}

class Abandoned extends Error {}

/**
 * Opens the door of a data folder that this process owns. Only commands need it: if it cannot be opened, that is
 * reported, and the service runs without it.
 */
export async function openControl({ folder, baseUrl, copyLedger, daily, report }: ControlOptions): Promise<Control> {
  removeSnapshots(folder);
  let running: { readonly response: ServerResponse; readonly done: Promise<void> } | null = null;
  let isStopping = false;

  async function serveSnapshot(response: ServerResponse): Promise<void> {
    const isGone = () => isStopping || response.destroyed;
    const say = (line: Line) => response.write(`${JSON.stringify(line)}\n`);
    const name = newSnapshotName();
    const closed = once(response, 'close');
    try {
      let shownPercent = -1;
      await makeSnapshot({ folder, name, copyLedger }, (copied, of) => {
        if (isGone()) throw new Abandoned();
        const percent = Math.floor((100 * copied) / of);
        if (percent > shownPercent) say({ copied, of });
        shownPercent = percent;
      });
      say({ file: name });
      // The client copies the file, and closes the connection.
      if (!isGone()) await closed;
    } catch (error) {
      if (isGone()) return;
      report('a snapshot of the ledger failed', error);
      response.end(`${JSON.stringify({ error: (error as Error).message } satisfies Line)}\n`);
    } finally {
      removeSnapshots(folder);
    }
  }

  const server = createServer((asked: IncomingMessage, response: ServerResponse) => {
    if (asked.method === 'POST' && asked.url === ADDRESS_URL_PATH) return void response.end(baseUrl);
    if (asked.method === 'POST' && asked.url === DAILY_URL_PATH) return void answerDaily(asked, response, daily);
    if (asked.method !== 'POST' || asked.url !== SNAPSHOT_URL_PATH) return void response.writeHead(404).end();
    // A client that has closed the connection gets nothing more, but its file may still have to be removed.
    const before = running;
    if (before !== null && !before.response.destroyed) return void response.writeHead(409).end();
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    // Sent at once, so that the client can distinguish a process that was killed before the first line from no process at all.
    response.flushHeaders();
    const done = Promise.resolve(before?.done).then(() => serveSnapshot(response));
    running = { response, done };
    void done.then(() => {
      if (running?.done === done) running = null;
    });
  });
  // No time limit: a large backup on a slow disk takes long.
  server.requestTimeout = 0;
  const path = socketOf(folder);
  try {
    // A killed process may have left its socket. This process holds the lock of the ledger, so no other process listens there.
    rmSync(path, { force: true });
    server.listen(path);
    await once(server, 'listening');
    chmodSync(path, 0o600);
  } catch (error) {
    report(`${path} cannot be opened, so a backup needs this server stopped`, error);
  }
  return {
    async stop() {
      isStopping = true;
      server.close();
      server.closeAllConnections();
      await running?.done;
    },
  };
}

async function answerDaily(
  asked: IncomingMessage,
  response: ServerResponse,
  daily: ControlOptions['daily'],
): Promise<void> {
  const outcomeOf = async () => {
    const [projection, date, kept = null] = (await json(asked)) as AskDaily;
    if (date === undefined) return await daily.make(projection);
    const kind = await daily.keep(projection, date, kept);
    return kind && { kind, date };
  };
  const answer: DailyAnswer = await outcomeOf().then(
    (outcome) => ({ outcome }),
    (error: Error) => ({ error: error.message }),
  );
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

export function newSnapshotName(): string {
  return `snapshot-${randomUUID()}.sqlite`;
}

/** @throws StartError if the disk has no space for the snapshot: a full disk would stop the writes of the service */
export async function makeSnapshot(
  { folder, name, copyLedger }: Pick<ControlOptions, 'folder' | 'copyLedger'> & { readonly name: string },
  progress: CopyProgress,
): Promise<void> {
  const [file, log] = await Promise.all([LEDGER_FILE, `${LEDGER_FILE}-wal`].map((part) => sizeOf(join(folder, part))));
  await checkRoom(folder, (file ?? 0) + (log ?? 0));
  const path = join(folder, name);
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  await copyLedger(path, progress);
}

/** Removes the snapshots of this process and of killed ones. Call it only with the ledger's lock. */
export function removeSnapshots(folder: string): void {
  try {
    for (const name of readdirSync(folder)) {
      if (SNAPSHOT_FILE.test(name)) rmSync(join(folder, name), { force: true });
    }
  } catch {
    // The next call tries again.
  }
}

/** No other process can make one of the same folder until the release, which removes it. */
export interface LedgerSnapshot {
  readonly path: string;
  release(): Promise<void>;
}

/**
 * Asks the process that has the folder open for a snapshot of its ledger. Null: no process answers.
 *
 * @throws StartError if that process refuses, fails or ends before the snapshot is complete
 */
export async function askForSnapshot(folder: string, progress: CopyProgress): Promise<LedgerSnapshot | null> {
  const asked = await askControl(folder, SNAPSHOT_URL_PATH);
  if (asked === null) return null;
  const { asking, answer } = asked;
  // The serving process removes the file when this client closes the connection.
  const release = async () => void asking.destroy();
  answer.on('error', () => {});
  if (answer.statusCode === 409) {
    await release();
    throw new StartError(`Another backup of ${folder} is running: wait for its end.`);
  }
  try {
    for await (const line of linesOf(answer)) {
      if ('file' in line && SNAPSHOT_FILE.test(line.file)) return { path: join(folder, line.file), release };
      if ('error' in line) throw new StartError(`The server could not copy its ledger: ${line.error}`);
      if ('copied' in line) progress(line.copied, line.of);
    }
  } catch (error) {
    await release();
    if (error instanceof StartError) throw error;
  }
  throw new StartError(`The server of ${folder} ended while it copied its ledger: start it, then repeat this command.`);
}

/** Ending the loop early leaves the connection open. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<Line> {
  answer.setEncoding('utf8');
  let rest = '';
  for await (const text of answer.iterator({ destroyOnReturn: false }) as AsyncIterable<string>) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}
