/**
 * Writes the OpenAPI document: `npm run build:openapi` makes docs/openapi.json, which is committed. A test makes it again
 * and compares.
 */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../../contract/openapi/openapi.ts';
import { readCommandLine } from '../run/command-line.ts';

export const OPENAPI_FILE = fileURLToPath(new URL('../../docs/openapi.json', import.meta.url));

/** The text of the file: the document for one host, indented so that people can read its changes. */
export function buildOpenApi(): string {
  return `${JSON.stringify(openApiDocument(), null, 2)}\n`;
}

if (import.meta.main) {
  readCommandLine('usage: npm run build:openapi', {}, 'no words');
  await writeFile(OPENAPI_FILE, buildOpenApi());
  console.log(`docs/openapi.json: ${Buffer.byteLength(buildOpenApi())} bytes`);
}
