/** Spectral judges docs/openapi.json by all of its own rules and all OWASP rules (API Security Top 10, 2023). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { EXCEPTIONS, type Exception } from './spectral-exceptions.ts';
import { toolFolder } from './tool-folder.ts';

const MODULES = join(toolFolder('npm-tools'), 'node_modules');

interface Finding {
  readonly code: string;
  readonly place: string;
  readonly message: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the document may have any shape.
type OpenApi = any;

/** Everything that Spectral finds, also the notes that it would not fail for. */
async function findingsIn(document: OpenApi): Promise<Finding[]> {
  const cwd = await temporaryFolder();
  const owasp = join(MODULES, '@stoplight/spectral-owasp-ruleset/dist/ruleset.js');
  await writeFile(
    join(cwd, 'ruleset.json'),
    JSON.stringify({ extends: ['spectral:oas', owasp].map((set) => [set, 'all']) }),
  );
  await writeFile(join(cwd, 'openapi.json'), JSON.stringify(document));
  const cli = join(MODULES, '@stoplight/spectral-cli/dist/index.js');
  const args = ['lint', '--ruleset', 'ruleset.json', '--format', 'json', '--quiet', 'openapi.json'];
  const { stdout, output } = await runTool(process.execPath, [cli, ...args], { cwd });
  try {
    const found = JSON.parse(stdout) as { code: string; path: string[]; message: string }[];
    return found.map(({ code, path, message }) => ({ code, place: ['', ...path].join('/'), message }));
  } catch (cause) {
    throw new Error(`Spectral did not run: ${output}`, { cause });
  }
}

/** The places of answers, and the components that only they refer to. */
function answersOf(document: OpenApi): (place: string) => boolean {
  const requests = new Set<string>();
  const follow = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [name, inner] of Object.entries(node)) {
      if (name !== '$ref') follow(inner);
      else if (!requests.has(inner)) {
        requests.add(inner);
        follow(
          (inner as string)
            .split('/')
            .slice(1)
            .reduce((at, key) => at[key], document),
        );
      }
    }
  };
  for (const item of Object.values<OpenApi>(document.paths)) {
    for (const { parameters, requestBody } of Object.values<OpenApi>(item)) follow([parameters, requestBody]);
  }
  return (place) => {
    if (/^\/paths\/.*\/responses\//.test(place) || /^\/components\/(responses|headers)\//.test(place)) return true;
    const schema = /^\/(components\/schemas\/[^/]+)/.exec(place);
    return schema !== null && !requests.has(`#/${schema[1]}`);
  };
}

/** Whether the exception is about the finding. */
function matcherFor(document: OpenApi): (exception: Exception, finding: Finding) => boolean {
  const isAnswer = answersOf(document);
  return ({ rule, at }, { code, place }) => code === rule && (at === 'answers' ? isAnswer(place) : at.test(place));
}

test('Spectral with the OWASP rules finds nothing but the exceptions, and each exception is needed', async () => {
  const document = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
  const isExcused = matcherFor(document);
  /** The first exception that is about the finding. */
  const excuseOf = (finding: Finding) => EXCEPTIONS.find((exception) => isExcused(exception, finding));
  const findings = await findingsIn(document);
  expect(findings.filter((finding) => excuseOf(finding) === undefined)).toEqual([]);
  const used = new Set(findings.map(excuseOf));
  expect(EXCEPTIONS.filter((exception) => !used.has(exception))).toEqual([]);
  // A text of a request needs its limit.
  const place = '/components/schemas/CreateWatchlistBody/properties/name';
  expect(excuseOf({ code: 'owasp:api4:2023-string-limit', place, message: '' })).toBeUndefined();
});
