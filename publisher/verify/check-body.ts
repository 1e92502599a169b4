/** Checks of a single public body. */
import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type * as z from 'zod';
import { PUBLIC_CACHE_CONTROL } from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { PROBLEM_CONTENT_TYPE } from '../../contract/problems/edge-problems.ts';
import { canonicalJson, type Json } from '../../contract/values/canonical-json.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import { INTERNAL_FIELDS, NEVER_PUBLIC, readableForms } from '../../contract/values/public-text.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import type { PublicReader, PublicResponse } from './reading/reader.ts';
import type { Finding, VerifyRule } from './report.ts';

/** Collects findings. Several checks examine the same bytes. */
export class Findings {
  readonly all: Finding[] = [];

  add(url: string, rule: VerifyRule, detail: string): void {
    this.all.push({ url, rule, detail });
  }
}

/** A body that was read and matches its schema. */
export interface Checked<Value> {
  readonly value: Value;
  readonly text: string;
  readonly digest: string;
  readonly etag: string;
  /** The field `Link`; null: it is not sent. */
  readonly link: string | null;
}

/**
 * Patterns that no public byte may match, and the names of internal fields. The subject of a verification is `observation`
 * or `source`; any other `subject` would be a person or an account.
 */
const FORBIDDEN = {
  ...NEVER_PUBLIC,
  'an internal field': new RegExp(`(?!"subject":"(observation|source)")"(${INTERNAL_FIELDS.join('|')})":`, 'g'),
} as const;

/** Allows a forbidden match in the body of one URL; `json` is the whole body. */
export type Excuse = (what: keyof typeof FORBIDDEN, found: string, json: Json) => boolean;

export interface ExpectedAnswer {
  readonly isExcused?: Excuse;
  readonly status?: 200 | 410;
}

/** GETs one body and checks it. Null if it could not be read; the findings give the reason. */
export async function checkBody<Value>(
  reader: PublicReader,
  findings: Findings,
  url: string,
  schema: z.ZodType<Value>,
  isExcused?: Excuse,
): Promise<Checked<Value> | null> {
  return checkAnswer(findings, url, await reader(url), schema, isExcused && { isExcused });
}

/** The snapshot, like {@link checkBody}. Default: its findings are dropped. */
export async function readSnapshot(reader: PublicReader, findings = new Findings()): Promise<Checked<Snapshot> | null> {
  return await checkBody(reader, findings, SNAPSHOT_URL, snapshotSchema);
}

/** Checks an answer that was already read, like {@link checkBody}. */
export function checkAnswer<Value>(
  findings: Findings,
  url: string,
  response: PublicResponse,
  schema: z.ZodType<Value>,
  { isExcused = () => false, status = 200 }: ExpectedAnswer = {},
): Checked<Value> | null {
  if (response.status !== status) {
    findings.add(url, 'status', `answered ${response.status}, expected ${status}`);
    return null;
  }
  const etag = checkHeaders(findings, url, response, status === 200 ? 'application/json' : PROBLEM_CONTENT_TYPE);

  const text = Buffer.from(response.body).toString('utf8');
  const read = readJson(text);
  const forms = readableForms(text);
  for (const [what, pattern] of Object.entries(FORBIDDEN) as [keyof typeof FORBIDDEN, RegExp][]) {
    // Field names have only one spelling in JSON, so the text is searched as it is.
    const searched = what === 'an internal field' ? [text] : forms;
    const found = searched.flatMap((form) => form.match(pattern) ?? []);
    if (found.every((match) => isExcused(what, match, read?.json ?? null))) continue;
    findings.add(url, 'forbidden', `holds ${what}`);
  }
  if (read?.canonical !== text || !isUtf8(response.body)) findings.add(url, 'canonical', 'is not canonical JSON');
  if (read === null) return null;
  const parsed = schema.safeParse(read.json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    findings.add(url, 'schema', `${issue?.path.join('/') ?? ''}: ${issue?.message ?? 'does not fit its schema'}`);
    return null;
  }
  return {
    value: parsed.data,
    text,
    digest: sha256Hex(response.body),
    etag,
    link: response.headers.get('link') ?? null,
  };
}

/**
 * Checks that a body matches its entity tag, if the tag is half of a SHA-256 (a folder) or an MD5 (S3). Other tags do not
 * depend on the bytes alone.
 */
export function checkEntityTag(findings: Findings, url: string, { headers, body }: PublicResponse): void {
  const named = /^(?:W\/)?"([0-9a-f]{32})"$/.exec(headers.get('etag') ?? '')?.[1];
  const digests = [hash('sha256', body, 'hex').slice(0, 32), hash('md5', body, 'hex')];
  if (named === undefined || digests.includes(named)) return;
  findings.add(url, 'digest', 'holds other bytes than its entity tag names');
}

export function isEntityTag(text: string): boolean {
  return /^(W\/)?"[^"]+"$/.test(text);
}

/** Checks the header fields of every public answer. Returns its ETag. */
export function checkHeaders(
  findings: Findings,
  url: string,
  { headers }: PublicResponse,
  contentType: string,
): string {
  for (const [name, value] of Object.entries({ 'content-type': contentType, 'cache-control': PUBLIC_CACHE_CONTROL })) {
    const found = headers.get(name);
    if (found !== value) findings.add(url, 'headers', `${name} is ${found ?? 'missing'}, expected ${value}`);
  }
  const etag = headers.get('etag') ?? '';
  if (!isEntityTag(etag)) findings.add(url, 'headers', `etag is ${etag || 'missing'}, expected an entity tag`);
  return etag;
}

/**
 * Null if it is not JSON, or has a value that canonical JSON cannot express: half of a surrogate pair, or a number beyond
 * the range.
 */
function readJson(text: string): { readonly json: Json; readonly canonical: string } | null {
  try {
    const json = JSON.parse(text) as Json;
    return { json, canonical: canonicalJson(json) };
  } catch {
    return null;
  }
}
