/** Checks that hold for each public body on its own. */
import { isUtf8 } from 'node:buffer';
import type * as z from 'zod';
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { PUBLIC_CACHE_CONTROL } from '../../contract/public-objects.ts';
import { INTERNAL_FIELDS, NEVER_PUBLIC } from '../../contract/public-text.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import type { PublicReader } from './reader.ts';
import type { Finding, VerifyRule } from './report.ts';

/** Collects findings; the same bytes are looked at by several checks. */
export class Findings {
  readonly all: Finding[] = [];

  add(url: string, rule: VerifyRule, detail: string): void {
    this.all.push({ url, rule, detail });
  }
}

/** A body that was read and is of its schema. */
export interface Checked<Value> {
  readonly value: Value;
  readonly text: string;
  readonly digest: string;
  readonly etag: string;
}

/**
 * What no public byte may hold, and the names of internal fields. A verification says whether its subject was an
 * observation or a source; any other subject is a person or an account.
 */
const FORBIDDEN = {
  ...NEVER_PUBLIC,
  'an internal field': new RegExp(`(?!"subject":"(observation|source)")"(${INTERNAL_FIELDS.join('|')})":`, 'g'),
} as const;

/** Excuses something forbidden that was found in the body of one URL; `json` is the whole body. */
export type Excuse = (what: keyof typeof FORBIDDEN, found: string, json: Json) => boolean;

/** GETs one body and checks it; null when it could not be read, with findings that say why. */
export async function checkBody<Value>(
  reader: PublicReader,
  findings: Findings,
  url: string,
  schema: z.ZodType<Value>,
  isExcused: Excuse = () => false,
): Promise<Checked<Value> | null> {
  const response = await reader(url);
  if (response.status !== 200) {
    findings.add(url, 'status', `answered ${response.status}, expected 200`);
    return null;
  }
  const expected = { 'content-type': 'application/json', 'cache-control': PUBLIC_CACHE_CONTROL };
  for (const [name, value] of Object.entries(expected)) {
    const found = response.headers.get(name);
    if (found !== value) findings.add(url, 'headers', `${name} is ${found ?? 'missing'}, expected ${value}`);
  }
  const etag = response.headers.get('etag') ?? '';
  if (!/^(W\/)?"[^"]+"$/.test(etag))
    findings.add(url, 'headers', `etag is ${etag || 'missing'}, expected an entity tag`);

  const text = Buffer.from(response.body).toString('utf8');
  const read = readJson(text);
  for (const [what, pattern] of Object.entries(FORBIDDEN) as [keyof typeof FORBIDDEN, RegExp][]) {
    const found = text.match(pattern) ?? [];
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
  return { value: parsed.data, text, digest: sha256Hex(response.body), etag };
}

/** Null when it is not JSON, or holds what canonical JSON cannot carry: half a surrogate pair, a number beyond range. */
function readJson(text: string): { readonly json: Json; readonly canonical: string } | null {
  try {
    const json = JSON.parse(text) as Json;
    return { json, canonical: canonicalJson(json) };
  } catch {
    return null;
  }
}
