/** The data folder of an earlier version: its content, the cursors of readers, and a server that starts on it. */
import { onTestFinished } from 'vitest';
import { parsePublicKey } from '../../contract/public-objects.ts';
import { historyUrl, MARKETS_URL } from '../../contract/routes.ts';
import { type DataFolder, openDataFolder } from '../../embedded/data-folder.ts';
import { type StartProgress, startService } from '../../embedded/service.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import { readAll } from '../../storage/paging.ts';
import { MARKET_INDEX, observationsOf } from '../../storage/records/markets.ts';
import { type OldDataFolder, unpackDataFolder } from '../fixtures/data-folder.ts';

const configOf = (dataFolder: string) => {
  return {
    host: '127.0.0.1',
    port: 0,
    dataFolder,
    waitlistEmail: 'waitlist@tidemark.example',
    uploadsKeptDays: null,
    proxies: [],
    isLocalIssuerAllowed: true,
    sample: 'unsaid' as const,
    issuer: null,
    metrics: null,
    verifyEveryHours: null,
    logOrigin: null,
    nextLogKey: null,
    witnesses: [],
    sourceHosts: new Set<string>(),
    projections: new Set<never>(),
  };
};

/** Removed at the end of the running test. */
export async function unpacked(name: OldDataFolder): Promise<string> {
  const { folder, remove } = await unpackDataFolder(name);
  onTestFinished(remove);
  return folder;
}

/** Starts a server and returns its output. It stops at the end of the test. */
export async function startedOn(folder: string) {
  const told: string[] = [];
  const progress: StartProgress = {
    migrating: (markets) => void told.push(`migrating ${markets}`),
    migrated: () => void told.push('migrated'),
    ingesting: () => {},
    ingested: () => {},
    publishing: () => {},
  };
  const reported: unknown[] = [];
  const service = await startService(configOf(folder), progress, {
    info: () => {},
    fault: (what, cause) => void reported.push(what, cause),
  });
  onTestFinished(() => service.stop());
  return { service, told, reported };
}

/** Reads the folder of a stopped server. */
export async function looked<Result>(folder: string, look: (data: DataFolder) => Promise<Result>): Promise<Result> {
  const data = await openDataFolder(folder);
  try {
    return await look(data);
  } finally {
    data.close();
  }
}

/** The pages to which readers may have cursors, by URL. */
export async function pagesOf({ objects }: DataFolder): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (let after: string | null = ''; after !== null; ) {
    const listed: Awaited<ReturnType<typeof objects.list>> = await objects.list('public/', { after });
    for (const key of listed.keys) {
      const name = parsePublicKey(key);
      if (name === null || !('cursor' in name)) continue;
      const found = await objects.get(key);
      const url = name.kind === 'history-page' ? historyUrl(name.slug) : MARKETS_URL;
      if (found.kind === 'found') pages.set(`${url}?cursor=${name.cursor}`, Buffer.from(found.body).toString());
    }
    after = listed.next;
  }
  return pages;
}

/** All observations, by market and place, without the fields that corrections change or that a migration adds. */
export async function observationsIn({ ledger }: DataFolder): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const { sort: slug } of await readAll(ledger, MARKET_INDEX)) {
    for (const { sort, value } of await readAll(ledger, observationsOf(slug))) {
      const { releasedAt, retraction, supersededAt, supersededBy, ...kept } = value;
      found.set(`${slug} ${sort}`, kept);
    }
  }
  return found;
}

/** The URLs of these pages that now have other bytes. */
export async function lostPages(reader: PublicReader, pages: ReadonlyMap<string, string>): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const [url, body] of pages) if (Buffer.from((await reader(url)).body).toString() !== body) lost.push(url);
  return lost;
}
