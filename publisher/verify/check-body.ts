/** Checks that hold for each public body on its own. */
import { isUtf8 } from 'node:buffer';
import type * as z from 'zod';
import { canonicalJson, type Json } from '../../contract/canonical-json.ts';
import { PUBLIC_CACHE_CONTROL } from '../../contract/public-objects.ts';
import { sha256Hex } from '../../storage/records.ts';
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
 * What no public byte may hold: e-mail addresses, API keys, bearer tokens, and the names of internal fields. Source URLs
 * are public facts and may hold an `@`, so an address needs a dotted host and no slash before it.
 */
const FORBIDDEN: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  { what: 'an e-mail address', pattern: /(?<![/\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}(?![\w-]*\/)/i },
  { what: 'an API key', pattern: /\btdm_[a-z]+_/ },
  { what: 'a bearer token', pattern: /\beyJ[\w-]{8,}\.[\w-]+\.[\w-]+/ },
  { what: 'an internal field', pattern: /"(actor|attemptId|keyId|userId|subject|requestId|email|contact)":/ },
];

/** GETs one body and checks it; null when it could not be read, with findings that say why. */
export async function checkBody<Value>(
  reader: PublicReader,
  findings: Findings,
  url: string,
  schema: z.ZodType<Value>,
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
  for (const { what, pattern } of FORBIDDEN) {
    if (pattern.test(text)) findings.add(url, 'forbidden', `holds ${what}`);
  }
  const read = readJson(text);
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
