/**
 * The tools of other people that judge the OpenAPI document, the files of infra/hosting/, the log, and files for other
 * programs, each with a lock file of its own beside this file, so that the project's own dependencies do not grow. Installed
 * once per lock file, into the user's cache.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { GO_FLAGS, type Installable, run } from '../aws/engines/engine.ts';
import { installed } from '../aws/engines/installation.ts';

/** The environment variable by which the tests learn where the tools are: {@link ToolFolders} as JSON. */
export const TOOLS_VARIABLE = 'TIDEMARK_TEST_TOOLS';

export type ToolName =
  | 'npm-tools'
  | 'python-tools'
  | 'beancount-tools'
  | 'model-tools'
  | 'openbb-tools'
  | 'template-tools'
  | 'go-tools'
  | 'deploy-tools'
  | 'job-tools'
  | 'log-tools'
  | 'witness'
  | 'java-tools';

/** By name: the folder of the installation, or why there is none. */
export type ToolFolders = Readonly<Record<string, { readonly folder: string } | { readonly missing: string }>>;

const HERE = import.meta.dirname;
export const GO_MODULE = join(HERE, 'clients', 'go');
export const DEPLOY_MODULE = join(HERE, 'deploy');
export const JOB_MODULE = join(HERE, 'job');
export const LOG_MODULE = join(HERE, 'log-judge');
export const WITNESS_MODULE = join(HERE, 'witness');
export const SELECTORS = join(HERE, 'selectors');

const TOOLS: readonly (Installable & { readonly name: ToolName })[] = [
  {
    name: 'npm-tools',
    version: digestOf('package-lock.json'),
    async install(folder) {
      for (const file of ['package.json', 'package-lock.json']) await copyFile(join(HERE, file), join(folder, file));
      const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
      await run('npm', ['ci', '--prefix', folder, ...options]);
    },
  },
  { name: 'python-tools', ...pythonTools('requirements.txt') },
  // Apart from the others, because of its licence: see licences.test.ts.
  { name: 'beancount-tools', ...pythonTools('compat/requirements.txt') },
  // Of all that litellm names, only what it imports: the rest is three times as large.
  { name: 'model-tools', ...pythonTools('models/requirements.txt') },
  { name: 'openbb-tools', ...pythonTools('openbb/requirements.txt') },
  { name: 'template-tools', ...pythonTools('templates/requirements.txt') },
  {
    name: 'go-tools',
    ...goProgram(GO_MODULE, 'oapi-codegen', 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen'),
  },
  { name: 'deploy-tools', ...goProgram(DEPLOY_MODULE, 'judge') },
  { name: 'job-tools', ...goProgram(JOB_MODULE, 'actionlint', 'github.com/rhysd/actionlint/cmd/actionlint') },
  { name: 'log-tools', ...goProgram(LOG_MODULE, 'judge') },
  { name: 'witness', ...goProgram(WITNESS_MODULE, 'witness') },
  {
    name: 'java-tools',
    version: digestOf('selectors/pom.xml', 'selectors/jars.sha256'),
    async install(folder) {
      const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
      await run('mvn', ['-q', '-B', '-f', join(SELECTORS, 'pom.xml'), goal, `-DoutputDirectory=${folder}`]);
      const check = 'cd "$1" && sha256sum --check --strict --quiet "$2"';
      await run('sh', ['-c', check, 'sh', folder, join(SELECTORS, 'jars.sha256')]);
    },
  },
];

/** Installs those that are not installed. `say` receives, for each, the time or the missing tool of this machine. */
export async function installTools(say: (line: string) => void): Promise<ToolFolders> {
  const states = await Promise.all(
    TOOLS.map(async (tool) => {
      const startedAtMs = performance.now();
      try {
        const folder = await installed(tool);
        say(`${tool.name}: installed in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s`);
        return [tool.name, { folder }] as const;
      } catch (error) {
        const missing = error instanceof Error ? error.message : String(error);
        say(`${tool.name}: missing: ${missing}`);
        return [tool.name, { missing }] as const;
      }
    }),
  );
  return Object.fromEntries(states);
}

function pythonTools(requirements: string): Omit<Installable, 'name'> {
  return {
    version: digestOf(requirements),
    async install(folder) {
      await run('python3', ['-m', 'venv', folder]);
      // Python compiles the modules that are used, which are few, when they are.
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-compile'];
      await run(join(folder, 'bin', 'python'), [...pip, '--require-hashes', '--requirement', join(HERE, requirements)]);
    },
  };
}

/** A program of a Go module beside this file: its own, or one of a package that it requires. */
function goProgram(module: string, name: string, command = '.'): Omit<Installable, 'name'> {
  const files = ['go.mod', 'go.sum', ...(command === '.' ? ['main.go'] : [])];
  return {
    version: digestOf(...files.map((file) => join(relative(HERE, module), file))),
    async install(folder) {
      await run('go', ['build', '-C', module, '-o', join(folder, name), command], GO_FLAGS);
    },
  };
}

/** Names the content of lock files: a raised pin is installed beside the old one. */
function digestOf(...files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(HERE, file)));
  return hash.digest('hex').slice(0, 16);
}
