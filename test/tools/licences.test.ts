/** The tools and all that they need are under licences that we can work with. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { installedPackages, isAllowed, LICENCES_OF_TOOLS, licenceOf } from '../licences.ts';
import { DEPLOY_MODULE, GO_MODULE, JOB_MODULE, LOG_MODULE, WITNESS_MODULE } from './installations.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const NPM = toolFolder('npm-tools');
const PYTHON = toolFolder('python-tools');
const BEANCOUNT = toolFolder('beancount-tools');
const MODELS = toolFolder('model-tools');
const OPENBB = toolFolder('openbb-tools');
const TEMPLATES = toolFolder('template-tools');
toolFolder('go-tools');
toolFolder('deploy-tools');
toolFolder('job-tools');
toolFolder('log-tools');
toolFolder('witness');

/**
 * Of beancount, beanprice, and a package that they need. They are run as programs beside the project: nothing of it imports
 * them but an example, and nothing of them is shipped.
 */
const LICENCES_OF_BEANCOUNT = [...LICENCES_OF_TOOLS, 'GPL-2.0-only', 'CNRI-Python'];

/** esprima 1.2.5, which jsonpath needs, says BSD: its text is that of two clauses. */
const BSD_2_CLAUSE = 'node_modules/jsonpath/node_modules/esprima';

/** How Python packages without an SPDX expression name their licence. */
const CLASSIFIERS: Readonly<Record<string, string>> = {
  'Apache Software License': 'Apache-2.0',
  'BSD License': 'BSD-3-Clause',
  'GNU General Public License v2 (GPLv2)': 'GPL-2.0-only',
  'ISC License (ISCL)': 'ISC',
  'MIT License': 'MIT',
  'Mozilla Public License 2.0 (MPL 2.0)': 'MPL-2.0',
  'Python Software Foundation License': 'PSF-2.0',
  BSD: 'BSD-3-Clause',
};

/** Modules of Go state their licence by its text alone. */
const TEXTS: readonly (readonly [RegExp, string])[] = [
  [/Mozilla Public License/, 'MPL-2.0'],
  [/Apache License/, 'Apache-2.0'],
  [/Permission is hereby granted, free of charge/, 'MIT'],
  [/Permission to use, copy, modify, and(\/or)? distribute this software/, 'ISC'],
  [/Redistribution and use in source and binary forms/, 'BSD-3-Clause'],
];

function licenceOfPython(metadata: string): string {
  const expression = /^License-Expression: (.+)$/m.exec(metadata)?.[1];
  const classifier = /^Classifier: License :: OSI Approved :: (.+)$/m.exec(metadata)?.[1];
  const text = /^License: (.+)$/m.exec(metadata)?.[1];
  // Without parentheses: each choice of what was in them is judged with what was before it.
  return expression?.replace(/[()]/g, '') ?? CLASSIFIERS[classifier ?? text ?? ''] ?? text ?? 'none';
}

function licenceOfGo(folder: string): string {
  const file = readdirSync(folder).find((name) => /^(LICEN[CS]E|COPYING)/i.test(name));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'none';
}

function refused(packages: readonly (readonly [string, string])[], allowed = LICENCES_OF_TOOLS): string[] {
  return packages
    .filter(([, licence]) => !isAllowed(licence, allowed))
    .map(([name, licence]) => `${name} is under "${licence}"`);
}

describe('licences', () => {
  test('of npm packages', () => {
    const packages = installedPackages(NPM, 'node_modules').map((path) => {
      if (path === BSD_2_CLAUSE) return [path, 'BSD-2-Clause'] as const;
      return [path, licenceOf(JSON.parse(readFileSync(join(NPM, path, 'package.json'), 'utf8')))] as const;
    });
    expect(packages.length).toBeGreaterThan(300);
    expect(refused(packages)).toEqual([]);
  });

  test.each([
    [PYTHON, 30, LICENCES_OF_TOOLS],
    [BEANCOUNT, 4, LICENCES_OF_BEANCOUNT],
    [MODELS, 30, LICENCES_OF_TOOLS],
    [OPENBB, 30, LICENCES_OF_TOOLS],
    [TEMPLATES, 80, [...LICENCES_OF_TOOLS, 'CNRI-Python']],
  ])('of Python packages: %s', (folder, least, allowed) => {
    const files = globSync('lib/python*/site-packages/*.dist-info/METADATA', { cwd: folder });
    expect(files.length).toBeGreaterThan(least);
    const packages = files.map((file) => [file, licenceOfPython(readFileSync(join(folder, file), 'utf8'))] as const);
    expect(refused(packages, allowed)).toEqual([]);
  });

  test.each([GO_MODULE, DEPLOY_MODULE, JOB_MODULE, LOG_MODULE, WITNESS_MODULE])('of Go modules: %s', async (module) => {
    // Those that are built, of programs and of tools. The whole graph has modules that no proxy may have any more.
    const args = ['list', '-mod=readonly', '-e', '-deps', '-f', '{{with .Module}}{{.Dir}}{{end}}', './...', 'tool'];
    const { stdout } = await runTool('go', args, { cwd: module });
    const folders = [...new Set(stdout.split('\n'))].filter((folder) => folder !== '' && folder !== module);
    expect(folders.length).toBeGreaterThan(10);
    expect(refused(folders.map((folder) => [folder, licenceOfGo(folder)]))).toEqual([]);
  });
});
