/** Checks that the newest export has the files that its manifest promises: their bytes, and the rows of those in NDJSON. */
import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import { bodyDigest } from '../../storage/object-rules.ts';
import { checkAnswer, type Findings } from './check-body.ts';
import type { PublicReader } from './reader.ts';
import type { Share } from './share.ts';

const EXPORTS_URL = '/api/v1/exports/';
const LATEST_EXPORT_URL = `${EXPORTS_URL}latest`;

const manifestSchema = z.looseObject({
  version: z.iso.date(),
  generation: z.int(),
  log: z.strictObject({ size: z.int(), root: z.base64() }),
  resources: z.array(
    z.looseObject({
      path: z.string().regex(/^parts\/[\w.-]+$/),
      format: z.enum(['parquet', 'ndjson', 'csv']),
      bytes: z.int(),
      hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
      rows: z.int(),
    }),
  ),
});

/** A deployment without exports answers 404, which is no finding. Of the files, only a share is read. */
export async function checkExports(reader: PublicReader, findings: Findings, share: Share): Promise<void> {
  const response = await reader(LATEST_EXPORT_URL);
  if (response.status === 404) return;
  const manifest = checkAnswer(findings, LATEST_EXPORT_URL, response, manifestSchema);
  for (const [index, resource] of (manifest?.value.resources ?? []).entries()) {
    if (index % share.of !== share.index) continue;
    const { path, bytes, hash, format, rows } = resource;
    const url = EXPORTS_URL + path;
    const { status, body } = await reader(url);
    if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
    else if (body.length !== bytes || `sha256:${bodyDigest(body)}` !== hash) {
      findings.add(url, 'digest', `has ${body.length} bytes of another digest than the manifest says`);
    } else if (format === 'ndjson' && linesIn(gunzipSync(body)) !== rows) {
      findings.add(url, 'count', `has another number of rows than ${rows}, which the manifest says`);
    }
  }
}

function linesIn(text: Buffer): number {
  let lines = 0;
  for (let end = text.indexOf(0x0a); end >= 0; end = text.indexOf(0x0a, end + 1)) lines++;
  return lines;
}
