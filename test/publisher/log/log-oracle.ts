/**
 * Judges a log by its definition, with code of its own: the entries, read in order, state exactly what is public. For a
 * store of which one generation is applied as a whole.
 */

import type { LogEntry } from '../../../contract/log/entries.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { readTexts } from './test-log.ts';

type Body = { readonly [name: string]: Json };
type Stated = {
  revision: number;
  updatedAt: string;
  definition: Body | null;
  sources: Json[];
  standing: Body;
  observations: Map<string, Body>;
  removal: Body | null;
};

/** The differences between the log and everything that is public. */
export async function faultsOfLog(objects: ObjectStore, seed = 1): Promise<readonly string[]> {
  const stated = statedBy((await readTexts(objects, seed)).map(parseEntry));
  const faults: string[] = [];
  const listed = await readListed(objects);
  for (const slug of listed.keys()) if (!stated.has(slug)) faults.push(`${slug} is public and not in the log`);
  for (const [slug, market] of stated) {
    const body = listed.get(slug) ?? (await readBody(objects, `markets/${slug}.json`));
    if (body === null) faults.push(`${slug} is in the log and not public`);
    else if (market.removal !== null) {
      if (listed.has(slug)) faults.push(`${slug} is listed, and removed by the log`);
      if (!holds(body, market.removal)) faults.push(`the removal of ${slug} differs`);
    } else if (!listed.has(slug)) faults.push(`${slug} is in the log and not listed`);
    else faults.push(...differences(slug, body, market, await readHistory(objects, slug)));
  }
  return faults;
}

function differences(slug: string, body: Body, market: Stated, history: readonly Body[]): string[] {
  const faults: string[] = [];
  const { sourceCount, ...definition } = market.definition ?? {};
  const sources = (body.sources as Body[]).map(({ expectedNextAt, ...source }) => source);
  const expected = { ...definition, revision: market.revision, updatedAt: market.updatedAt || null };
  if (!holds(body, expected)) faults.push(`${slug}: ${canonicalJson(expected)}, public: ${canonicalJson(body)}`);
  if (canonicalJson(sources) !== canonicalJson(market.sources.slice(0, sourceCount as number))) {
    faults.push(`the sources of ${slug} differ`);
  }
  if (!isStanding(body, market.standing)) faults.push(`the standing of ${slug} differs`);
  const next = new Map([...market.observations.values()].map((one) => [one.supersedes, one]));
  for (const shown of history) {
    const { decimal, decimalPerUnit, supersededAt, supersededBy, ...facts } = shown;
    const one = market.observations.get(shown.id as string);
    const later = next.get(shown.id as string);
    const isSame = one !== undefined && canonicalJson(facts) === canonicalJson(one);
    const isLinked = supersededBy === (later?.id ?? null) && supersededAt === (later?.recordedAt ?? null);
    if (!isSame || !isLinked) faults.push(`${slug} ${shown.id}: the log has ${one && canonicalJson(one)}`);
  }
  if (history.length !== market.observations.size) {
    faults.push(`${slug} has ${history.length} observations, the log ${market.observations.size}`);
  }
  return faults;
}

function isStanding(body: Body, { disputedMetrics, representedBy }: Body): boolean {
  const { representedBy: name, representedBySalt: salt } = body;
  const digest = typeof salt === 'string' ? sha256Hex(`${salt}\n${name}`) : null;
  const shown = { disputedMetrics: body.disputedMetrics as Json, representedBy: name === null ? null : { digest } };
  return (
    canonicalJson(shown) ===
    canonicalJson({ disputedMetrics: disputedMetrics as Json, representedBy: representedBy as Json })
  );
}

function statedBy(entries: readonly LogEntry[]): Map<string, Stated> {
  const markets = new Map<string, Stated>();
  for (const { format, ...entry } of entries) {
    if (entry.type === 'key' || entry.type === 'takedown' || entry.type === 'service') continue;
    const { market, type, ...fields } = entry;
    if (type === 'reset') {
      markets.delete(market);
      continue;
    }
    const known = markets.get(market) ?? nothing();
    markets.set(market, known);
    if (known.removal !== null) throw new Error(`${market} was removed before`);
    const { revision, ...facts } = fields as unknown as Body & { revision: number };
    known.revision = Math.max(known.revision, revision);
    const at = (type === 'market' ? facts.updatedAt : facts.recordedAt) as string | null | undefined;
    if (at && at > known.updatedAt) known.updatedAt = at;
    if (type === 'market') {
      const { updatedAt, ...definition } = facts as Body;
      known.definition = definition;
    }
    if (type === 'source') {
      const { position, ...source } = facts as Body;
      known.sources[position as number] = source;
    }
    if (type === 'standing') known.standing = facts;
    if (type === 'removal') known.removal = facts;
    if (type === 'observation') {
      const id = facts.id as string;
      // Readers accept it with the same content. The daily exports rely on it that no publisher does so.
      if (known.observations.has(id)) throw new Error(`${id} is stated again without a reset`);
      known.observations.set(id, facts);
    }
  }
  return markets;
}

const nothing = (): Stated => {
  const standing = { disputedMetrics: [], representedBy: null };
  const observations = new Map<string, Body>();
  return { revision: 0, updatedAt: '', definition: null, sources: [], standing, observations, removal: null };
};

function holds(body: Body, fields: Body): boolean {
  return Object.entries(fields).every(([name, value]) => canonicalJson(body[name] ?? null) === canonicalJson(value));
}

async function readListed(objects: ObjectStore): Promise<Map<string, Body>> {
  const listed = new Map<string, Body>();
  for await (const data of pages(objects, 'markets.json', (cursor) => `markets/pages/${cursor}.json`)) {
    for (const item of data) listed.set(item.slug as string, item);
  }
  return listed;
}

async function readHistory(objects: ObjectStore, slug: string): Promise<readonly Body[]> {
  const all: Body[] = [];
  const pageOf = (cursor: string) => `markets/${slug}/history/pages/${cursor}.json`;
  for await (const data of pages(objects, `markets/${slug}/history.json`, pageOf)) all.push(...data);
  return all;
}

async function* pages(objects: ObjectStore, first: string, pageOf: (cursor: string) => string) {
  for (let path: string | null = first; path !== null; ) {
    const body: Body | null = await readBody(objects, path);
    if (body === null) return;
    const { nextCursor } = body.page as { readonly nextCursor: string | null };
    yield body.data as readonly Body[];
    path = nextCursor === null ? null : pageOf(nextCursor);
  }
}

async function readBody(objects: ObjectStore, path: string): Promise<Body | null> {
  const found = await objects.get(`public/api/v1/${path}`);
  return found.kind === 'found' ? JSON.parse(Buffer.from(found.body).toString('utf8')) : null;
}
