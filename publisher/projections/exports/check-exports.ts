/** Checks that the newest export has the files that its manifest promises: their bytes, and the rows of those in NDJSON. */
import * as z from 'zod';
import { exportManifestSchema } from '../../../contract/bodies/export-manifest.ts';
import { EXPORT_ROOT, EXPORTS_URL, exportUrl } from '../../../contract/files/routes.ts';
import { bodyDigest } from '../../../storage/ports/object-rules.ts';
import { type Checked, checkAnswer, checkBody, type Findings } from '../../verify/check-body.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import type { PublicReader, PublicResponse } from '../../verify/reading/reader.ts';
import { checkExportRows, isLateFrom, type ReadManifest } from './check-export-rows.ts';
import { BadRows, linesIn } from './export-lines.ts';
import { withKept } from './manifest.ts';

/**
 * Checks the newest export. By the log, if there is one: its rows. By its manifest: its files, and the kept exports that it
 * names. Only a share of the files is read.
 */
export async function checkExports(context: CheckContext): Promise<void> {
  const { reader, findings, share, log, isStated } = context;
  const response = await context.read('exports', EXPORTS_URL, null, false);
  if (response === null) {
    if (log !== null && isStated('exports') && isLateFrom(log, 0))
      findings.add(EXPORTS_URL, 'not-in-log', 'is missing, and the log says that exports are published');
    return;
  }
  const latest = checkAnswer(findings, EXPORTS_URL, response, exportManifestSchema);
  if (latest === null) return;
  if (log !== null) return await checkExportRows(context, log, latest.value);
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

/** A schema's name holds its digest. */
async function checkSchema(reader: PublicReader, findings: Findings, path: string): Promise<void> {
  const url = EXPORT_ROOT + path;
  const { status, body } = await reader(url);
  if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
  else if (!path.includes(`-schema-${bodyDigest(body).slice(0, 32)}.`))
    findings.add(url, 'digest', 'holds other bytes than its name says');
}

/** The manifest at the URL of its day must equal this one. */
async function checkDay(reader: PublicReader, findings: Findings, latest: Checked<ReadManifest>): Promise<void> {
  const url = exportUrl(latest.value.version);
  const ofDay = await checkBody(reader, findings, url, z.unknown());
  if (ofDay !== null && ofDay.text !== withKept(latest.text, []))
    findings.add(url, 'digest', 'differs from the newest manifest');
}

/** A file must match the manifest's entry. */
async function checkExportFile(
  findings: Findings,
  url: string,
  { status, body }: PublicResponse,
  { bytes, hash, format, rows }: ReadManifest['resources'][number],
): Promise<void> {
  if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
  else if (body.length !== bytes || `sha256:${bodyDigest(body)}` !== hash) {
    findings.add(url, 'digest', `has ${body.length} bytes of another digest than the manifest says`);
  } else if (format === 'ndjson' && (await countLines(body)) !== rows)
    findings.add(url, 'count', `has another number of rows than ${rows}, which the manifest says`);
}

/** Null: the file is not gzip, or does not consist of lines. */
async function countLines(packed: Uint8Array): Promise<number | null> {
  let count = 0;
  try {
    for await (const lines of linesIn(packed)) count += lines.length;
  } catch (error) {
    if (error instanceof BadRows) return null;
    throw error;
  }
  return count;
}
