/**
 * Takes over the newest daily export, and those that are kept: its files, then the manifests that name them. Files are immutable and have digests,
 * so an export that was interrupted goes on where it stopped, and only new files are read.
 */
import * as z from 'zod';
import { exportManifestSchema } from '../../contract/files/export-manifest.ts';
import { EXPORT_PART_ENTRIES } from '../../contract/files/export-tables.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { PUBLIC_PREFIX, parsePublicKey } from '../../contract/files/public-objects.ts';
import { EXPORT_ROOT, EXPORTS_URL, exportUrl } from '../../contract/files/routes.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { checkExportRows } from '../../publisher/projections/exports/check-export-rows.ts';
import { checkExportFile, type ReadManifest } from '../../publisher/projections/exports/check-exports.ts';
import { withKept } from '../../publisher/projections/exports/keep-export.ts';
import { type Checked, checkAnswer, Findings } from '../../publisher/verify/check-body.ts';
import type { PublicReader, PublicResponse } from '../../publisher/verify/reader.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { etagOfDigest } from '../../storage/ports/object-rules.ts';
import { bodyFaults } from './body-faults.ts';
import { MirrorFull } from './copy.ts';
import { freshReader } from './fresh-reader.ts';
import type { MirrorWorld } from './mirror-world.ts';
import { keptDays } from './reached.ts';

type Resource = ReadManifest['resources'][number];

const schemaBodySchema = z.looseObject({ fields: z.array(z.looseObject({ name: z.string() })) });
const datasetSchema = z.looseObject({
  version: z.string(),
  identifier: z.string(),
  distribution: z.array(z.looseObject({ contentUrl: z.string(), sha256: z.string() })),
});

type ExportsWorld = Pick<MirrorWorld, 'upstream' | 'copy' | 'log' | 'generation' | 'pause'>;

/**
 * A service without exports answers 404, which is no finding. Nothing is put of an export with a finding, but files that
 * were checked before.
 *
 * @param cachedMs longer than a shared cache keeps a body
 * @throws MirrorFull before anything is put, if the export does not fit
 */
export async function copyExports(world: ExportsWorld, cachedMs: number): Promise<readonly Finding[]> {
  if ((await takeOver(world)).length === 0) return [];
  // The manifests of one export and of the one that replaces it may be in a cache on the way.
  await world.pause(cachedMs);
  return await takeOver(world);
}

/** The newest export, then those that it names as kept. */
async function takeOver(world: ExportsWorld): Promise<readonly Finding[]> {
  const findings = [...(await takeOverFrom(world, EXPORTS_URL))];
  for (const date of await keptDays(world.copy)) findings.push(...(await takeOverFrom(world, exportUrl(date))));
  return findings;
}

async function takeOverFrom(world: ExportsWorld, manifestUrl: string): Promise<readonly Finding[]> {
  const { copy, log, generation } = world;
  const findings = new Findings();
  const reader = freshReader(world);
  const answer = await reader(manifestUrl);
  if (answer.status === 404) return [];
  const manifest = checkAnswer(findings, manifestUrl, answer, exportManifestSchema);
  if (manifest === null) return bodyFaults(findings);
  const position = await log?.agreesWith(manifest.value);
  // It is taken over once the log is verified up to there.
  if (position === 'ahead') return [];
  if (position === 'no') findings.add(manifestUrl, 'digest', 'names another log than the one that is signed');
  const missing = await missingFiles(world, manifest.value.resources);
  const bytes = missing.reduce((sum, resource) => sum + resource.bytes, 0);
  if (copy.usedBytes + bytes > copy.maxBytes) {
    throw new MirrorFull(`the export of ${manifest.value.version} needs ${bytes} bytes more: see --max-bytes`);
  }
  await proveRows(world, findings, { url: manifestUrl, answer }, manifest.value.resources, missing);
  if (bodyFaults(findings).length > 0) return bodyFaults(findings);
  for (const resource of missing) {
    const url = EXPORT_ROOT + resource.path;
    const file = await world.upstream(url);
    if (await checkExportFile(findings, url, file, resource)) await copy.putAt(url, { body: file.body, generation });
  }
  await copySchemas(world, findings, manifest.value);
  const ofDay = await manifestsOfDay(reader, findings, manifest);
  const faults = bodyFaults(findings);
  if (faults.length > 0) return faults;
  for (const [name, body] of ofDay) await copy.put(name, { body, generation });
  if (manifestUrl === EXPORTS_URL) await copy.put({ kind: 'export-latest' }, { body: manifest.text, generation });
  return [];
}

/** Before anything of an export is put: a file would be served at once. New files are read twice, once a day. */
async function proveRows(
  { upstream, copy, log }: Pick<MirrorWorld, 'upstream' | 'copy' | 'log'>,
  findings: Findings,
  { url, answer }: { readonly url: string; readonly answer: PublicResponse },
  resources: readonly Resource[],
  missing: readonly Resource[],
): Promise<void> {
  if (log === null || findings.all.length > 0) return;
  const copied = await copy.reader(url);
  if (missing.length === 0 && Buffer.from(copied.body).equals(answer.body)) return;
  const byUrl = new Map(resources.map((resource) => [EXPORT_ROOT + resource.path, resource]));
  const reader: PublicReader = async (asked) => {
    const resource = byUrl.get(asked);
    if (resource === undefined) return answer;
    const file = await (missing.includes(resource) ? upstream : copy.reader)(asked);
    return (await checkExportFile(new Findings(), asked, file, resource)) ? file : { ...file, status: 404 };
  };
  await checkExportRows(reader, findings, log.read, { partEntries: EXPORT_PART_ENTRIES, nowMs: null });
}

/** Files that the copy does not have with the bytes of the manifest. */
async function missingFiles(
  { copy }: Pick<MirrorWorld, 'copy'>,
  resources: readonly Resource[],
): Promise<readonly Resource[]> {
  const missing: Resource[] = [];
  for (const resource of resources) {
    const name = parsePublicKey(PUBLIC_PREFIX + EXPORT_ROOT + resource.path);
    const present = name === null ? null : await copy.head(name);
    if (present?.etag !== etagOfDigest(resource.hash.slice('sha256:'.length))) missing.push(resource);
  }
  return missing;
}

/** A schema is named by its digest. */
async function copySchemas(
  { upstream, copy, generation }: Pick<MirrorWorld, 'upstream' | 'copy' | 'generation'>,
  findings: Findings,
  { resources }: ReadManifest,
): Promise<void> {
  for (const path of new Set(resources.map(({ schema }) => schema))) {
    const url = EXPORT_ROOT + path;
    if ((await copy.reader(url)).status === 200) continue;
    const schema = checkAnswer(findings, url, await upstream(url), schemaBodySchema);
    if (schema === null) continue;
    if (path.includes(`-schema-${schema.digest.slice(0, 32)}.`))
      await copy.putAt(url, { body: schema.text, generation });
    else findings.add(url, 'digest', 'holds other bytes than its name says');
  }
}

/** The two manifests under the day of the export must say what the newest one says. */
async function manifestsOfDay(
  reader: PublicReader,
  findings: Findings,
  { text, value }: Checked<ReadManifest>,
): Promise<readonly (readonly [PublicObjectName, string])[]> {
  const { version: date, log, resources } = value;
  const [packageUrl, datasetUrl] = [exportUrl(date), `${EXPORT_ROOT}${date}/dataset.jsonld`];
  const own = withKept(text, []);
  const ofDay = checkAnswer(findings, packageUrl, await reader(packageUrl), z.unknown());
  if (ofDay !== null && ofDay.text !== own) findings.add(packageUrl, 'digest', 'differs from the newest manifest');
  const dataset = checkAnswer(findings, datasetUrl, await reader(datasetUrl), datasetSchema);
  const expected = {
    version: date,
    identifier: `log ${log.size} ${log.root}`,
    distribution: resources.map(({ path, hash }) => [path, hash]),
  };
  const found = dataset && {
    version: dataset.value.version,
    identifier: dataset.value.identifier,
    distribution: dataset.value.distribution.map(({ contentUrl, sha256 }) => [contentUrl, `sha256:${sha256}`]),
  };
  if (found !== null && canonicalJson(found) !== canonicalJson(expected)) {
    findings.add(datasetUrl, 'digest', 'names another export than the newest manifest');
  }
  return [
    [{ kind: 'export-package', date }, own],
    [{ kind: 'export-dataset', date }, dataset?.text ?? ''],
  ];
}
