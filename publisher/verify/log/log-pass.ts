/** One pass over everything public: compares it with a log that has been read. */
import { dirname } from 'node:path/posix';
import pMap from 'p-map';
import { PROBLEMS_PATH } from '../../../contract/files/object-paths.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { LOG_ROOT } from '../../../contract/files/public-objects.ts';
import { MARKETS_URL, marketUrl, OPENAPI_URL, SNAPSHOT_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import type { LogCheckpoint } from '../../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { openNote } from '../../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, widthOfTile } from '../../../contract/log/tiles.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market, Snapshot } from '../../../contract/values/market.ts';
import type { PageSizes } from '../../dependencies.ts';
import type { Projector } from '../../kernel/projection.ts';
import { checkEntityTag, Findings, readSnapshot } from '../check-body.ts';
import type { PublicReader } from '../reading/reader.ts';
import { ListWalk } from '../reading/walk-pages.ts';
import type { Finding } from '../report.ts';
import { checkFolded, type FoldedCounts, foldedMarket } from './check-folded.ts';
import { readLaterFiles } from './check-later.ts';
import { keysOf, LogFileError, type LogFiles, VKEY_URL } from './log-files.ts';
import type { LogWalk } from './log-walk.ts';
import { DAILY_MS, PastMarket } from './past-market.ts';

export interface LogPass {
  readonly reader: PublicReader;
  readonly files: LogFiles;
  readonly walk: LogWalk;
  /** The last checkpoint of the log that was read, and the signed note that holds it. */
  readonly checkpoint: LogCheckpoint;
  readonly note: string;
  readonly pageSizes: PageSizes;
  readonly partEntries: number;
  readonly nowMs: number | null;
  readonly projectors: readonly Projector[];
  /** Receives each item of the list. */
  readonly onItem?: (item: Market) => void;
  /** Set for a mirror, which keeps its copies. Absent: nothing is kept, and every market is compared. */
  readonly keeper?: Keeper;
}

/** A log that was read to its newest checkpoint. */
export type ProvenLog = Pick<LogPass, 'checkpoint' | 'files' | 'note' | 'walk'>;

export interface Keeper {
  /** Proven markets by slug. The map is shared by all passes. */
  readonly proven: Map<string, ProvenMarket>;
  /** Checks the bodies of a market with readers of its own, which find only files of the market, and keeps right bodies. */
  readonly take: (slug: string, check: CheckOfMarket) => Promise<readonly Finding[]>;
}

type CheckOfMarket = (reader: PublicReader, findings: Findings) => Promise<void>;

/** A market whose bodies are kept, byte for byte as the log has them. */
export interface ProvenMarket {
  /** The index in the log of the newest entry about the market. */
  readonly lastIndex: number;
  /** Null: the market is removed. */
  readonly counts: Omit<FoldedCounts, 'markets'> | null;
  /** The text of the list item and of the files beside it when they were compared. Null: they were behind the market. */
  readonly shown: string | null;
}

export interface PassReport {
  readonly findings: readonly Finding[];
  readonly list: ListWalk;
  readonly snapshot: Snapshot | null;
}

const MARKETS_AT_ONCE = 8;

/** @param again the findings of an earlier pass: checks only their markets, and everything that concerns all markets */
export async function passOver(pass: LogPass, again?: readonly Finding[]): Promise<PassReport> {
  const { reader, walk, pageSizes, keeper } = pass;
  const findings = new Findings();
  const { fold } = walk;
  const wanted = again && new Set(again.map(({ url }) => marketOfUrl(url)));
  // Read right after the checkpoint. The later these are read, the more often they belong to a later generation.
  const snapshot = await readSnapshot(reader, findings);
  const list = new ListWalk(reader, findings, pageSizes.markets, pass.onItem);
  const isLeftOut = ({ leadUrl }: Projector) =>
    leadUrl !== undefined && wanted !== undefined && !again?.some(({ url }) => url.startsWith(dirname(leadUrl)));
  const projectors = pass.projectors.filter((projector) => !isLeftOut(projector));
  const isKept = keeper !== undefined;
  const later = await readLaterFiles(reader, findings, {
    ...pass,
    ...{ list, projectors, isKept, snapshot: snapshot?.value ?? null },
  });
  // The list has a cadence, so it may be behind.
  const isListCurrent = snapshot !== null && snapshot.value.listGeneration === snapshot.value.generation;
  const isDaily = projectors.some(({ daily }) => daily !== undefined);
  const counts: FoldedCounts = { markets: 0, observations: 0, unknownValues: 0 };
  const shown = new Set<string>();
  const count = (slug: string, ofMarket: ProvenMarket['counts']) => {
    if (ofMarket === null) return;
    shown.add(slug);
    counts.markets++;
    counts.observations += ofMarket.observations;
    counts.unknownValues += ofMarket.unknownValues;
  };
  const isStated = (kind: Projection) => fold.service?.projections.includes(kind) ?? null;
  const market = async (slug: string): Promise<void> => {
    const lastIndex = fold.lastIndexOf(slug);
    const before = keeper?.proven.get(slug);
    const isProven = before?.lastIndex === lastIndex;
    const shownLater = later.shownOf(slug);
    if (before && isProven && before.shown === shownLater && !isDaily) {
      later.skip(slug, before.counts !== null);
      count(slug, before.counts);
      return;
    }
    const folded = foldedMarket(fold, slug, findings);
    if (folded === null) return;
    const past = new PastMarket(fold, slug, walk.size);
    const ofMarket =
      folded.kind === 'removed'
        ? null
        : { observations: folded.observations.length, unknownValues: folded.record(null).unknownValues };
    count(slug, ofMarket);
    const check: CheckOfMarket = async (reader, findings) => {
      const isWithout = async (kind: Projection, url: string) => {
        const isOld = past.isLateIfMissing({ nowMs: pass.nowMs, mostMs: DAILY_MS });
        return (await reader(url)).status === 404 && !(isOld && isStated(kind));
      };
      const before = folded.kind === 'removed' ? past.lastShown() : null;
      const removedYears = [...new Set(before?.observations.map(({ order }) => order.slice(0, '2026'.length)))];
      const asked = { rule: 'not-in-log', isStated, isWithout, removedYears } as const;
      const settings = { ...asked, pageSize: pageSizes.observations };
      await checkFolded({ ...settings, reader, findings, slug, folded });
    };
    let isRight = isProven;
    if (keeper === undefined) {
      if (wanted?.has(slug) !== false) await check(reader, findings);
    } else if (!isProven) {
      const found = await keeper.take(slug, check);
      findings.all.push(...found);
      isRight = found.length === 0;
    }
    const found = findings.all.length;
    const isCurrent = await later.market(past, folded);
    if (keeper !== undefined && isListCurrent && !isCurrent && later.listed.has(slug))
      findings.add(MARKETS_URL, 'time', `shows another revision of ${slug} than the log`);
    const isWhole = isRight && isCurrent && findings.all.length === found;
    // A pass over the daily files does not check the files that change often, so it proves only the bodies.
    if (isRight && !(isProven && isDaily))
      keeper?.proven.set(slug, { lastIndex, counts: ofMarket, shown: isWhole && !isDaily ? shownLater : null });
  };
  await pMap(fold.slugs(), market, { concurrency: MARKETS_AT_ONCE });
  await later.end();
  checkTakedowns(pass, findings);
  await checkKeys(pass, findings);
  await checkDocuments(pass, findings);
  for (const slug of later.listed.keys()) {
    if (!shown.has(slug)) findings.add(marketUrl(slug), 'not-in-log', 'is in the list, and not in the log');
  }
  if (snapshot !== null) {
    checkSnapshot(pass, findings, snapshot.value, list, counts);
    const missing = isListCurrent ? [...shown].filter((slug) => !later.listed.has(slug)) : [];
    for (const slug of missing) findings.add(marketUrl(slug), 'not-in-log', 'is in the log, and not in the list');
  }
  return { findings: findings.all, list, snapshot: snapshot?.value ?? null };
}

/** A tombstone is not signed: any host of the files can write one. Adds one finding for each file. */
export function checkTakedowns({ walk: { fold, size } }: Pick<LogPass, 'walk'>, findings: Findings): void {
  const first = new Map<number, number>();
  for (const index of fold.unannounced()) {
    const n = Math.floor(index / TILE_WIDTH);
    if (!first.has(n)) first.set(n, index);
  }
  for (const [n, index] of first) {
    const url = `${LOG_ROOT}/${ndjsonPath(n, widthOfTile(0, n, size))}`;
    findings.add(url, 'not-in-log', `hides entry ${index}, and no takedown in the log names it`);
  }
}

/** Each key that the log names must have signed the checkpoint. Otherwise readers of these keys would trust a wrong one. */
async function checkKeys({ files, note }: LogPass, findings: Findings): Promise<void> {
  try {
    const named = keysOf(await files.vkeys(), VKEY_URL);
    const { signedBy } = openNote(note, named);
    const missing = named.find((key) => !signedBy.includes(key));
    if (missing) findings.add(VKEY_URL, 'signature', `names ${missing.vkey}, which has not signed the checkpoint`);
  } catch (error) {
    if (!(error instanceof LogFileError || error instanceof LogFaultError)) throw error;
    findings.add(VKEY_URL, 'signature', error.message);
  }
}

/** These documents explain the API, and are not in the log. Their entity tags show whether they are complete. */
async function checkDocuments({ reader }: LogPass, findings: Findings): Promise<void> {
  for (const url of [WAITLIST_URL, OPENAPI_URL, PROBLEMS_PATH]) {
    const answer = await reader(url);
    if (answer.status === 200) checkEntityTag(findings, url, answer);
  }
}

function checkSnapshot(
  { checkpoint: { size, root }, walk, keeper }: LogPass,
  findings: Findings,
  value: Snapshot,
  { head }: ListWalk,
  counts: FoldedCounts,
): void {
  const differ = (one: Json, other: Json) => canonicalJson(one) !== canonicalJson(other);
  if (differ(value.log ?? null, { size, root: root.toString('base64') })) {
    findings.add(SNAPSHOT_URL, 'not-in-log', 'names another log than the checkpoint');
  }
  if (head !== null && head.digest !== value.listDigest)
    findings.add(SNAPSHOT_URL, 'digest', 'names another list than the one published');
  if (differ(value.counts, { ...counts })) {
    const detail = `counts ${canonicalJson(value.counts)}, by the log ${canonicalJson({ ...counts })}`;
    findings.add(SNAPSHOT_URL, 'count', detail);
  }
  // A snapshot is not signed. A mirror's copy of it must not name fewer kinds than the log.
  if (keeper === undefined) return;
  const named: readonly string[] = value.projections ?? [];
  for (const kind of walk.fold.service?.projections ?? []) {
    if (!named.includes(kind)) findings.add(SNAPSHOT_URL, 'not-in-log', `does not name ${kind}, which the log does`);
  }
}

/** The market that a URL is about; the URL itself for any other. */
function marketOfUrl(url: string): string {
  return /^\/api\/v1\/markets\/([^/?]+)/.exec(url)?.[1] ?? url;
}
