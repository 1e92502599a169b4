/** Reads an export as its readers do: from a manifest, by the paths that it names. */
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';

export interface Resource {
  readonly name: string;
  readonly path: string;
  readonly format: string;
  readonly bytes: number;
  readonly hash: string;
  readonly rows: number;
  readonly schema: string;
}

export interface Package {
  readonly version: string;
  readonly log: { readonly size: number; readonly root: string };
  readonly resources: readonly Resource[];
  readonly [other: string]: unknown;
}

export const LATEST = '/api/v1/exports/latest';

async function getOk(read: PublicReader, url: string): Promise<Buffer> {
  const { status, body } = await read(url);
  if (status !== 200) throw new Error(`${url}: ${status}`);
  return Buffer.from(body);
}

export async function readPackage(read: PublicReader, url = LATEST): Promise<Package> {
  return JSON.parse((await getOk(read, url)).toString('utf8')) as Package;
}

/** Throws unless the bytes are those that the manifest promises. */
export async function readResource(read: PublicReader, resource: Resource, base = LATEST): Promise<Buffer> {
  const body = await getOk(read, new URL(resource.path, `http://edge${base}`).pathname);
  const hash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  if (body.length !== resource.bytes || hash !== resource.hash) throw new Error(`${resource.path} has other bytes`);
  return body;
}

export type Cells = Readonly<Record<string, unknown>>;

export const ndjsonRows = (body: Buffer): Cells[] =>
  gunzipSync(body)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Cells);

/** All rows of a table, in the order of its parts, by its NDJSON. */
export async function rowsOf(read: PublicReader, table: string, url = LATEST): Promise<Cells[]> {
  const { resources } = await readPackage(read, url);
  const parts = resources.filter(({ name }) => name.startsWith(`${table}-`) && name.endsWith('-ndjson'));
  const rows: Cells[] = [];
  for (const part of parts) rows.push(...ndjsonRows(await readResource(read, part, url)));
  return rows;
}
