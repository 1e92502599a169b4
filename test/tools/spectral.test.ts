/** Spectral judges docs/openapi.json by all of its own rules and all OWASP rules (API Security Top 10, 2023). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
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

async function committed(): Promise<OpenApi> {
  return JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
}

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

describe('Spectral with the OWASP rules', () => {
  test('finds nothing but the exceptions, and each exception is needed', async () => {
    const document = await committed();
    const findings = await findingsIn(document);
    const excuses = matcherFor(document);
    const unexcused = findings.filter((finding) => !EXCEPTIONS.some((exception) => excuses(exception, finding)));
    expect(unexcused).toEqual([]);
    const unused = EXCEPTIONS.filter(
      (exception, index) =>
        !findings.some(
          (finding) =>
            excuses(exception, finding) && !EXCEPTIONS.slice(0, index).some((each) => excuses(each, finding)),
        ),
    );
    expect(unused).toEqual([]);
  });

  test('finds planted faults', async () => {
    const document = await committed();
    document.servers = [{ url: 'http://data.tidemark.test', 'x-internal': false }];
    const path = '/api/v1/watchlists';
    // The rest of the document takes most of the time, and is judged above.
    document.paths = { [path]: document.paths[path] };
    document.paths[path].post.security = [];
    delete document.components.schemas.CreateWatchlistBody.properties.name.maxLength;
    const excuses = matcherFor(document);
    const findings = await findingsIn(document);
    const unexcused = findings.filter((finding) => !EXCEPTIONS.some((exception) => excuses(exception, finding)));
    const codes = new Set(unexcused.map(({ code }) => code));
    // Components that only other paths use.
    codes.delete('oas3-unused-component');
    expect([...codes].sort()).toEqual([
      'owasp:api2:2023-write-restricted',
      'owasp:api4:2023-string-limit',
      'owasp:api8:2023-no-server-http',
    ]);
  });
});
