/** `tidemark verify`: checks every promise to readers, from outside, with GET only. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { MARKETS_URL, SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { TILE_WIDTH } from '../../contract/log/tiles.ts';
import { confirmFindings } from '../../publisher/verify/confirm-findings.ts';
import { CHECKPOINT_URL, LogFiles, VKEY_URL } from '../../publisher/verify/log/log-files.ts';
import { type VerifyLogOptions, type VerifyLogReport, verifyLog } from '../../publisher/verify/log/verify-log.ts';
import { otherRenderer } from '../../publisher/verify/other-renderer.ts';
import { DEFAULT_READ_LIMITS, httpReader, UpstreamInvalid } from '../../publisher/verify/reading/bounded-reader.ts';
import type { PublicReader } from '../../publisher/verify/reading/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { hostReader, staticHostReader } from '../../server/target/static-host.ts';
import type { ProgressLine } from '../../server/terminal/progress-line.ts';
import { counted } from '../../server/terminal/words.ts';
import { knownLogsOf, originOf, readKnownLogs, rememberLog } from '../log/known-logs.ts';
import { isSignatureFault, wordsOnFork, wordsOnStrangeLog } from '../log/strange-log.ts';
import { CommandError, endWith } from '../program/exit-codes.ts';
import { isPersonReading, note, printFields, printJson, progressOf, Table } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';

/** Longer than a shared cache keeps a body. */
const PAUSE_SECONDS = FRESH_SECONDS + 1;

const ONLY_FILES =
  'This host serves plain files, so the files are checked, and not the status and the header fields with which they are sent.';

/** The options for checking the signed log, too. */
export interface LogCheck {
  /** The keys of the log. Null: the stored ones, or at the first check those that the log names. */
  readonly vkeys: readonly string[] | null;
  /** See `known-logs.ts`. */
  readonly memory: string;
  /** Whether the operator has intentionally begun a new log at this URL. Then the stored keys and checkpoint are replaced. */
  readonly isNew: boolean;
}

/**
 * Ends with `findings` if there is any.
 *
 * @param logCheck null: the log is not checked
 */
export async function verifyService(
  url: URL,
  asked: Parameters<typeof confirmFindings>[1],
  logCheck: LogCheck | null,
  options: Pick<GlobalOptions, 'json' | 'quiet' | 'timeout'> & { readonly static?: boolean },
): Promise<void> {
  const pause = async (found: readonly Finding[]): Promise<boolean> => {
    const [{ rule, url: where, detail }] = found as readonly [Finding];
    line.clear();
    note(`${counted(found.length, 'finding')}; the first: ${rule} ${where} ${detail}`);
    note(`A publication in between may explain that: looking again in ${PAUSE_SECONDS} s.`);
    await sleep(PAUSE_SECONDS * 1000);
    watched.begin();
    return true;
  };
  const line = progressOf(options);
  const host = publicReaderOf(url, options.timeout);
  const watched = watchedReader(
    options.static ? staticHostReader(host) : hostReader(host, () => note(ONLY_FILES)),
    line,
  );
  const { reader } = watched;
  const check = async () => {
    const bodies = await confirmFindings(reader, { ...asked, nowMs: Date.now() }, pause);
    const log = logCheck && (await verifyTheLog(url, reader, logCheck, { pause }));
    const found = [...bodies.findings, ...(log?.findings ?? [])];
    // If this explanation cannot be read, the findings are shown without it.
    const other = await otherRenderer(reader, found).catch(() => null);
    return { bodies, log, found, other };
  };
  const { bodies, log, found, other } = await check().finally(watched.end);
  const { findings: _, ...report } = bodies;
  const [first] = found;
  if (first !== undefined && found.every(({ url: path }) => watched.unavailable.has(path))) {
    const reason = `${counted(found.length, 'file')} could not be read; the first: ${first.url} ${first.detail}.`;
    throw new CommandError('unreachable', reason, 'The service is busy or not ready. Run the command again later.');
  }
  const all = other === null ? found : [other.finding, ...found];
  const shown = other === null ? found : [other.finding, ...other.others];
  if (all.length > 0) endWith('findings');
  if (options.json) return await printJson({ findings: all, ...report, ...(log && { log: shownLog(log) }) });
  const table = new Table(['RULE', 'URL', 'FINDING']);
  for (const { rule, url: where, detail } of shown) await table.add([rule, where, detail]);
  await table.end();
  // On a pipe, only the findings are data, so the output is empty without findings.
  if (!isPersonReading()) return note(`${counted(shown.length, 'finding')} at ${url.href.replace(/\/$/, '')}`);
  const { generation, markets, observations, pages, missingValues } = report;
  await printFields([
    ['findings', shown.length],
    ['generation', generation],
    ['read', `${counted(markets, 'market')}, ${counted(observations, 'observation')}, ${counted(pages, 'page')}`],
    ['missing values', missingValues],
    ...(log === null
      ? []
      : ([['log', `${counted(log.size, 'entry', 'entries')}, every public value rendered again`]] as const)),
  ]);
}

function shownLog({ size, vkeys, takenDown, service }: VerifyLogReport) {
  return { size, vkeys, takenDown, projections: service?.projections ?? null };
}

async function verifyTheLog(
  url: URL,
  reader: PublicReader,
  { vkeys, memory, isNew }: LogCheck,
  options: Pick<VerifyLogOptions, 'pause'>,
): Promise<VerifyLogReport> {
  const known = isNew ? undefined : readKnownLogs(memory).get(url.href);
  const report = await verifyLog(reader, {
    vkeys: vkeys ?? known?.vkeys ?? [],
    seen: known?.checkpoint ?? null,
    nowMs: Date.now(),
    ...options,
  });
  if (report.findings.some(({ rule }) => rule === 'fork')) {
    note(`A fork: keep ${memory}, and a copy of it. The checkpoint in it for ${url.href} is the proof.`);
    for (const line of wordsOnFork(url)) note(line);
  }
  if (vkeys === null && known !== undefined && report.findings.some(isSignatureFault)) {
    const words = await wordsOnStrangeLog(url, () => new LogFiles(reader).vkeys(), known.vkeys, memory);
    for (const line of words) note(line);
  }
  if (report.checkpoint !== null) {
    const { checkpoint } = report;
    if (vkeys === null && known === undefined) {
      const detail = strangeKey(url, originOf(checkpoint), report.vkeys, memory);
      // The log may belong to somebody else, so it is not stored.
      if (detail !== null) {
        return { ...report, findings: [...report.findings, { url: VKEY_URL, rule: 'signature', detail }] };
      }
    }
    rememberLog(memory, url.href, { vkeys: [...report.vkeys], checkpoint });
    if (vkeys === null && known === undefined) {
      note(
        `This is the first check of this log. From now on, it is trusted with these keys, which the service itself stated:`,
      );
      for (const vkey of report.vkeys) note(`  ${vkey}`);
      note('Compare them with the keys that its operator publishes elsewhere.');
    }
  }
  if (report.service === null && report.checkpoint !== null)
    note(
      'This log does not list the kinds of files that its service publishes, so a missing kind is not noticed. All files found were checked.',
    );
  if (report.takenDown > 0)
    note(`${counted(report.takenDown, 'entry', 'entries')} of the log: taken down. The tree holds their hashes.`);
  return report;
}

/** Why a log that is new to this user may belong to somebody else, although it has the name of a stored log. */
function strangeKey(shownAt: URL, origin: string, vkeys: readonly string[], memory: string): string | null {
  for (const [url, known] of knownLogsOf(origin, memory)) {
    if (url === shownAt.href) continue;
    const strange = vkeys.find((vkey) => !known.includes(vkey));
    if (strange === undefined) continue;
    return `${strange} is not a key of ${origin} at ${url}, by ${memory}. Check that log again, or give the key of its operator with --log-key`;
  }
  return null;
}

/**
 * If the server does not answer, its state is unknown, and that is not a finding. An endless answer is a finding.
 *
 * @param timeoutSeconds the time limit of one answer
 */
function publicReaderOf(url: URL, timeoutSeconds: number): PublicReader {
  const reader = httpReader(url.href, { ...DEFAULT_READ_LIMITS, timeoutMs: timeoutSeconds * 1000 });
  return async (path, headers) => {
    try {
      return await reader(path, headers);
    } catch (cause) {
      if (cause instanceof UpstreamInvalid) throw new CommandError('findings', `${cause.message}.`, null, { cause });
      const hint = 'Check the address and the network; --timeout gives each answer more time.';
      throw new CommandError('unreachable', `${(cause as Error).message}.`, hint, { cause });
    }
  };
}

/**
 * The progress of `verify`, from its reads: markets compared with the count in the snapshot, entries compared with the size in
 * the checkpoint.
 */
const MARKET = new RegExp(`(?:${MARKETS_URL}|/markets)/([^/?.]+)[^/?]*$`);
const ENTRIES = `${LOG_ROOT}/ndjson/`;

interface WatchedReader {
  readonly reader: PublicReader;
  /** URLs whose last answer was 429 or 5xx: it proves nothing about the file. */
  readonly unavailable: ReadonlySet<string>;
  /** Call it before a second walk. */
  begin(): void;
  /** Ends the display: later results of running reads are not shown. */
  end(): void;
}

function watchedReader(reader: PublicReader, line: ProgressLine): WatchedReader {
  /** Unknown until these answers are read; only for display, so an invalid answer shows nothing. A 304 has no numbers. */
  let [markets, entries] = [0, 0];
  let isOver = false;
  let [step, done] = ['Reading the list', 0];
  const show = (unit: string, of: number) =>
    line.at(step, { share: of > 0 ? Math.min(1, done / of) : null, count: done, unit });
  /** Of a market, several files are read. */
  const seen = new Set<string>();
  const enter = (name: string) => {
    if (name === step) return;
    [step, done] = [name, 0];
    seen.clear();
  };
  const begin = () => {
    enter('Reading the list');
    line.at(step, { share: null });
  };
  begin();
  const unavailable = new Set<string>();
  return {
    begin,
    unavailable,
    end() {
      isOver = true;
      line.clear();
    },
    reader: async (url, headers) => {
      const answer = await reader(url, headers);
      if (answer.status === 429 || answer.status >= 500) unavailable.add(url);
      else unavailable.delete(url);
      if (isOver) return answer;
      const [, market] = MARKET.exec(url) ?? [];
      if (url === SNAPSHOT_URL) markets = numberIn(answer.body, /"markets":(\d{1,12})/) || markets;
      else if (url === CHECKPOINT_URL) entries = numberIn(answer.body, /^[^\n]*\n(\d{1,15})\n/);
      else if (url.startsWith(ENTRIES)) {
        enter('Reading the log');
        done = entries > 0 ? Math.min(entries, done + TILE_WIDTH) : done + TILE_WIDTH;
        show('entry', entries);
      } else if (market !== undefined) {
        enter(entries === 0 ? 'Checking the markets' : 'Comparing the markets with the log');
        done = seen.add(market).size;
        show('market', markets);
      }
      return answer;
    },
  };
}

function numberIn(body: Uint8Array, pattern: RegExp): number {
  return Number(pattern.exec(Buffer.from(body).toString('latin1'))?.[1] ?? 0);
}
