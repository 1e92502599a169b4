/** `tidemark start`: runs Tidemark in this process, and prints what it serves. */

import { relative, sep } from 'node:path';
import { inspect, styleText } from 'node:util';
import { isLoopback } from '../../lambdas/http/network.ts';
import type { AskSource } from '../../lambdas/sources/run/dependencies.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { HeadValue } from '../../storage/records/publication.ts';
import { DEFAULT_DATA_FOLDER } from '../backup/control-socket.ts';
import { collectAtRest } from '../edge-host/collect-at-rest.ts';
import { startEdge } from '../edge-host/edge-thread.ts';
import type { OperatorKeyFile } from '../http/write-api.ts';
import { type Log, type LogFormat, type LogStreams, openLog, readLogFormat } from '../service/log.ts';
import type { Service, StartProgress } from '../service/service.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { checkClock, type EmbeddedConfig, type Environment, readConfig, type SampleName } from '../settings/config.ts';
import { misspeltSettings } from '../settings/settings-help.ts';
import { printable } from '../terminal/printable.ts';
import { counted } from '../terminal/words.ts';
import { onStopSignal } from './stop-signals.ts';
import { noteTerminal, openTerminal, type Terminal } from './terminal.ts';

let terminal: Terminal = openTerminal(process.stdout);
const streams: LogStreams = { output: process.stdout, errors: process.stderr, nowMs: Date.now };
let format: LogFormat = 'text';
let log: Log = openLog(format, streams);
/** Null during the start. */
let running: Service | null = null;

/**
 * Serves until a signal arrives. After a fault that a person can correct, it prints one line, and the process ends.
 *
 * @param environment the settings of {@link readConfig}
 * @param ask fetches from sources; tests pass their own
 */
export async function runServer(environment: Environment, ask?: AskSource): Promise<void> {
  try {
    format = readLogFormat(environment);
    log = openLog(format, streams);
    if (format === 'json') terminal = noteTerminal((text) => log.info('note', { text }));
    await start(readConfig(environment), ask);
    for (const warning of misspeltSettings(environment)) log.fault('warning', warning);
  } catch (error) {
    terminal.clear();
    const expected = EXPECTED.some((kind) => error instanceof kind);
    if (format === 'json') log.fault('start failed', expected ? error : (error as Error).stack);
    else console.error(printable(expected ? (error as Error).message : inspect(error)));
    // The same exit codes as of other commands (cli/program/exit-codes.ts): after 2, service managers do not try again.
    process.exit(error instanceof SettingError ? 2 : 1);
  }
}

const EXPECTED = [StartError, StorageUnavailable, StorageCorrupt];

async function start(config: EmbeddedConfig, ask?: AskSource): Promise<void> {
  stopOnSignals();
  // The ledger holds personal data, so only the owner may read the files that this process makes.
  process.umask(0o077);
  checkClock(Date.now());
  terminal.say(`\n  ${styleText('bold', 'Tidemark')} · market data as static files\n`);
  // Started early: the thread loads its code while this thread loads its own.
  const edge = startEdge(log);
  const { startService } = await import('../service/service.ts');
  running = await startService(config, progress, log, ask, edge);
  collectAtRest();
  terminal.done(summary(running.head));
  const made = [
    ...(running.operatorKey === 'made' ? ['operator-key'] : []),
    ...(running.logKeys?.isNew ? ['log-key'] : []),
  ];
  if (made.length > 0) terminal.done(`Made ${made.join(' and ')} in ${shownFolder(config)}`);
  for (const note of keyNotes(running, config)) terminal.note(note);
  terminal.say(welcome(running, config));
  if (format === 'json') {
    const { counts, generation } = running.head;
    const { markets, observations } = counts;
    const { baseUrl: address, metricsUrl: metrics } = running;
    log.info('started', { address, metrics, generation, markets, observations });
  }
  for (const warning of [...warnings(config), running.logKeys?.warning ?? null])
    if (warning !== null) log.fault('warning', warning);
}

const progress: StartProgress = {
  ingesting: (records) => terminal.working('Ingesting the sample', { share: null, count: records, unit: 'record' }),
  ingested: (records) =>
    terminal.done(
      records === null ? 'The sample is in the ledger already' : `Ingested the sample: ${counted(records, 'record')}`,
    ),
  publishing: () => terminal.working('Publishing'),
};

function summary({ counts, generation }: HeadValue): string {
  const { markets, observations, unknownValues } = counts;
  const parts = [
    counted(markets, 'market'),
    counted(observations, 'observation'),
    counted(unknownValues, 'unknown value'),
  ];
  return `Serving generation ${generation}: ${parts.join(', ')}`;
}

const ENDED: { readonly [State in Exclude<OperatorKeyFile, 'made' | 'gone' | 'valid'>]: string } = {
  revoked: 'holds a key that is revoked',
  expired: 'holds a key that has expired',
  rotated: 'holds a secret that was replaced by a rotation',
  unknown: 'holds a key of another ledger',
  damaged: 'does not hold an API key',
};

/** A note on an operator key in the file that cannot be used. */
function keyNotes({ operatorKey }: Service, config: EmbeddedConfig): readonly string[] {
  if (isUsable(operatorKey) || operatorKey === 'gone') return [];
  const file = `${shownFolder(config)}/operator-key`;
  return [`${file} ${ENDED[operatorKey]}: put an operator key that is in use into it, or delete it.`];
}

const isUsable = (file: OperatorKeyFile): file is 'made' | 'valid' => file === 'made' || file === 'valid';

/** Warnings about a port that other machines can reach. */
function warnings({ host, issuer, isLocalIssuerAllowed, proxies }: EmbeddedConfig): readonly string[] {
  if (isLoopback(host)) return [];
  const issuerState = isLocalIssuerAllowed
    ? 'Everybody who can read the file issuer-key can sign in as any user.'
    : 'Users cannot sign in: set TIDEMARK_ISSUER, or TIDEMARK_LOCAL_ISSUER=everywhere for tokens of tidemark token.';
  return [
    ...(proxies.length > 0
      ? []
      : [`HOST is ${host}: tokens and API keys travel in clear text. Put a proxy with TLS in front of this port.`]),
    ...(issuer === null ? [issuerState] : []),
  ];
}

function shownFolder({ dataFolder }: EmbeddedConfig): string {
  const shown = relative('', dataFolder);
  return shown === '' || shown.startsWith(`..${sep}`) ? dataFolder : shown;
}

/** Paths of the sample that the welcome text suggests. */
const SAMPLE_PATHS: Readonly<Record<SampleName, readonly string[]>> = {
  currencies: ['/api/v1/markets/gold-usd', '/api/v1/markets/bitcoin-usd/history'],
  models: ['/api/v1/markets/claude-opus-5-5', '/api/v1/markets/gpt-4o/history'],
};

function welcome({ baseUrl, metricsUrl, operatorKey, sample, logKeys }: Service, config: EmbeddedConfig): string {
  // Quoted, because shells read brackets as a pattern.
  const url = (path: string) => (baseUrl.includes('[') ? `'${baseUrl}${path}'` : `${baseUrl}${path}`);
  const label = (text: string) => styleText('dim', text.padEnd(9));
  const folder = shownFolder(config);
  const where = config.dataFolder === DEFAULT_DATA_FOLDER ? '' : `TIDEMARK_DATA=${config.dataFolder} `;
  const writes = [
    ...(isUsable(operatorKey)
      ? [`curl -H "Authorization: Bearer $(cat ${folder}/operator-key)" ${url('/api/v1/me')}`]
      : []),
    ...(config.issuer === null && config.isLocalIssuerAllowed ? [`${where}npx tidemark token --user alice`] : []),
  ];
  const reads = [
    ...(sample === null ? ['/api/v1/markets'] : SAMPLE_PATHS[sample]).map((path) => `curl ${url(path)}`),
    `curl -i ${url('/api/v1/snapshot')}`,
  ];
  const commands = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `\n  ${styleText('dim', title)}\n${lines.map((line) => `    ${line}\n`).join('')}`;
  return `
  ${label('Address')}${styleText('bold', baseUrl)}  (pages for a browser, files for programs)
  ${label('Data in')}${folder}${metricsUrl === null ? '' : `\n  ${label('Metrics')}${metricsUrl}`}
${logKeys === null ? '' : `  ${label('Log')}${logKeys.origin}, signed by ${shownFolder(config)}/log-key\n`}  ${label('Stop')}Ctrl-C; the next start continues
${commands('Write, as the operator or as a user (more at /docs/ of this address)', writes)}${commands('Read', reads)}`;
}

/** A stop that takes longer is announced: otherwise it looks like a hang. */
const SOON_MS = 500;

/** The first signal ends the process cleanly, also during the start. A second signal ends it at once. */
function stopOnSignals(): void {
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    terminal.clear();
    setTimeout(
      () => terminal.say('\n  Stopping: current answers and a publication end first. Ctrl-C stops at once.'),
      SOON_MS,
    );
    // A start may be interrupted at any point: commits are durable, and the next start continues the publication.
    await running?.stop();
    terminal.say(running === null ? '\n  Stopped while starting. The next start continues.\n' : '\n  Stopped.\n');
    if (format === 'json') log.info('stopped', { signal });
    process.exit(0);
  };
  onStopSignal((signal) => {
    stop(signal).catch((error: unknown) => {
      log.fault('stopping failed', error);
      process.exit(1);
    });
  });
}
