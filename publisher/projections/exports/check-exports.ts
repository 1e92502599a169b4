/** Checks that the newest export has the files that its manifest promises: their bytes, and the rows of those in NDJSON. */
import { createGunzip } from 'node:zlib';
import * as z from 'zod';
import { exportManifestSchema } from '../../../contract/bodies/export-manifest.ts';
import { EXPORT_ROOT, EXPORTS_URL, exportUrl } from '../../../contract/files/routes.ts';
import { bodyDigest } from '../../../storage/ports/object-rules.ts';
import { type Checked, checkAnswer, checkBody, type Findings } from '../../verify/check-body.ts';
import type { PublicReader, PublicResponse } from '../../verify/reader.ts';
import type { Share } from '../../verify/share.ts';
import { withKept } from './manifest.ts';

/** The rows of a part; what is larger after decompression is not read. */
const ROWS_BYTES_MAX = 1024 * 1024 * 1024;

export type ReadManifest = z.infer<typeof exportManifestSchema>;

/**
 * The newest export, and those that its manifest names as kept. A deployment without exports answers 404, which is no
 * finding. Of the files, only a share is read.
 */
export async function checkExports(reader: PublicReader, findings: Findings, share: Share): Promise<void> {
  const response = await reader(EXPORTS_URL);
  if (response.status === 404) return;
  const latest = checkAnswer(findings, EXPORTS_URL, response, exportManifestSchema);
  if (latest === null) return;
  await checkDay(reader, findings, latest);
  const manifests = [latest.value];
  for (const { date } of latest.value.kept ?? []) {
    const kept = await checkBody(reader, findings, exportUrl(date), exportManifestSchema);
    if (kept === null) continue;
    await checkDay(reader, findings, kept);
    manifests.push(kept.value);
  }
  const schemas = new Set(manifests.flatMap((manifest) => manifest.resources.map(({ schema }) => schema)));
  for (const path of schemas) await checkSchema(reader, findings, path);
  const resources = new Map(manifests.flatMap((manifest) => manifest.resources.map((each) => [each.path, each])));
  for (const [index, resource] of [...resources.values()].entries()) {
    if (index % share.of !== share.index) continue;
    const url = EXPORT_ROOT + resource.path;
    await checkExportFile(findings, url, await reader(url), resource);
  }
}

/** A schema is named by its digest. */
async function checkSchema(reader: PublicReader, findings: Findings, path: string): Promise<void> {
  const url = EXPORT_ROOT + path;
  const { status, body } = await reader(url);
  if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
  else if (!path.includes(`-schema-${bodyDigest(body).slice(0, 32)}.`))
    findings.add(url, 'digest', 'holds other bytes than its name says');
}

/** The manifest under the day of an export must say what this one says. */
async function checkDay(reader: PublicReader, findings: Findings, latest: Checked<ReadManifest>): Promise<void> {
  const url = exportUrl(latest.value.version);
  const ofDay = await checkBody(reader, findings, url, z.unknown());
  if (ofDay !== null && ofDay.text !== withKept(latest.text, []))
    findings.add(url, 'digest', 'differs from the newest manifest');
}

/** Whether a file is the one that the manifest promises. */
async function checkExportFile(
  findings: Findings,
  url: string,
  { status, body }: PublicResponse,
  { bytes, hash, format, rows }: ReadManifest['resources'][number],
): Promise<boolean> {
  if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
  else if (body.length !== bytes || `sha256:${bodyDigest(body)}` !== hash) {
    findings.add(url, 'digest', `has ${body.length} bytes of another digest than the manifest says`);
  } else if (format === 'ndjson' && (await linesIn(body)) !== rows) {
    findings.add(url, 'count', `has another number of rows than ${rows}, which the manifest says`);
  } else return true;
  return false;
}

/** Null: it is no gzip, or too large. Little of the text is in memory. */
async function linesIn(gzipped: Uint8Array): Promise<number | null> {
  let [bytes, lines] = [0, 0];
  const text = createGunzip();
  text.end(gzipped);
  try {
    for await (const piece of text as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > ROWS_BYTES_MAX) return null;
      for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, end + 1)) lines++;
    }
  } catch {
    return null;
  }
  return lines;
}
