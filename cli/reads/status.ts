/** `tidemark status`: the published generation, late sources, and the service's own report. */

import type { HealthDocument } from '../../contract/bodies/health.ts';
import { MARKETS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { Expectations, type LateSource } from '../../contract/freshness/late-sources.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import { counted, durationInWords } from '../../server/terminal/words.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { endWith } from '../program/exit-codes.ts';
import { type Cell, printFields, printJson } from '../program/output.ts';
import { allMarkets } from './walk.ts';

/** Only the embedded server has this path. */
const HEALTH_URL = '/healthz';

/** The limit of markets that are read to find late sources, which takes a few seconds. */
const MARKETS_READ = 100 * MARKETS_PAGE_SIZE;
const WORST_SHOWN = 5;

/** Ends with `findings` if the service reports a failure. */
export async function printStatus(client: Client, asJson: boolean): Promise<void> {
  const snapshot = (await client.files.resource(SNAPSHOT_URL).catch(toCommandError)) as Snapshot;
  const health = await readHealth(client);
  if (health !== null && health.status !== 'ok') endWith('findings');
  const lateSources = await readLateSources(client);
  if (asJson) return await printJson({ url: shownUrl(client), snapshot, lateSources, health });
  const { generation, publishedAt, counts, listGeneration } = snapshot;
  const age = counted(Math.max(0, Math.floor((Date.now() - Date.parse(publishedAt)) / 1000)), 'second');
  await printFields([
    ['url', shownUrl(client)],
    ['generation', generation],
    ['published', `${publishedAt}, ${age} ago`],
    ['markets', counts.markets],
    ['observations', `${counts.observations}, of them unknown: ${counts.unknownValues}`],
    ['list of generation', listGeneration],
    ['late sources', countOf(lateSources, counts.markets)],
    ...lateSources.worst.map((source) => ['late', lateInWords(source)] as const),
    ...(health === null ? [['health', 'this service does not tell'] as const] : healthFields(health)),
  ]);
}

/** Null: this service makes no report. On AWS the path does not exist. */
export async function readHealth(client: Client): Promise<HealthDocument | null> {
  // 503 is a valid answer with faults.
  const asked = await client.read(HEALTH_URL, [404, 403, 503]);
  return asked.status === 200 || asked.status === 503 ? (jsonOf(asked) as HealthDocument) : null;
}

function shownUrl({ profile }: Client): string {
  return profile.readUrl.href.replace(/\/$/, '');
}

interface LateSources {
  readonly count: number;
  readonly worst: readonly LateSource[];
  readonly marketsRead: number;
}

async function readLateSources(client: Client): Promise<LateSources> {
  const expectations = new Expectations();
  let marketsRead = 0;
  for await (const market of allMarkets(client)) {
    expectations.add(market);
    if (++marketsRead === MARKETS_READ) break;
  }
  const late = expectations.late(Date.now());
  return { count: late.length, worst: late.slice(0, WORST_SHOWN), marketsRead };
}

function countOf({ count, marketsRead }: LateSources, markets: number): Cell {
  return marketsRead < MARKETS_READ || markets <= MARKETS_READ
    ? count
    : `${count}, among the first ${counted(marketsRead, 'market')}`;
}

function lateInWords({ label, lateSeconds, expectedNextAt, markets }: LateSource): string {
  return `${label}: ${durationInWords(lateSeconds)}, expected at ${expectedNextAt}, for ${counted(markets, 'market')}`;
}

function healthFields(health: HealthDocument): readonly (readonly [string, Cell])[] {
  const {
    status,
    publishLagSeconds,
    marksDue,
    deferred,
    queue,
    failingSources,
    missedRuns,
    lastVerify,
    faults = [],
  } = health;
  return [
    ['health', status],
    ['publish lag', publishLagSeconds === undefined ? null : counted(publishLagSeconds, 'second')],
    ['marks', marksDue],
    ['deferred', deferred],
    ['queue', queue],
    ['failing sources', failingSources],
    ['missed runs', missedRuns],
    [
      'last verify',
      lastVerify == null
        ? 'none since the server started'
        : `${counted(lastVerify.findings, 'finding')} at ${lastVerify.at}, share ${lastVerify.share}`,
    ],
    // A server of an earlier version does not report this number.
    ['missing values', lastVerify?.missingValues ?? null],
    ...faults.map(({ part, detail }) => ['fault', `${part}: ${detail}`] as const),
  ];
}
