/** The licences that packages may have. */
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/**
 * SPDX identifiers. All of them let Apache-2.0 code be built on the package and shipped with it. `MIT/X11` is an older
 * spelling of MIT. What `npm start` installs is distributed in images and bundles, so its list is the shorter one.
 */
export const LICENCES_TO_SHIP = [
  'MIT',
  'MIT/X11',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  'BlueOak-1.0.0',
  '0BSD',
];
/** MPL-2.0 asks for the source of changed files; a development tool is neither changed nor distributed. */
export const LICENCES_OF_TOOLS = [
  ...LICENCES_TO_SHIP,
  // MIT without the duty to name the author.
  'MIT-0',
  'MPL-2.0',
  'CC0-1.0',
  'Python-2.0',
  'PSF-2.0',
  'CC-BY-4.0',
  'Unlicense',
  'Zlib',
];

/** Whether one choice of the SPDX expression is allowed. */
export function isAllowed(expression: string, allowed: readonly string[]): boolean {
  return expression.split(' OR ').some((choice) => choice.split(' AND ').every((name) => allowed.includes(name)));
}

/** The folders of npm packages in a folder below the root, and in theirs; relative to the root. */
export function installedPackages(root: string, folder: string): string[] {
  const candidates = globSync([`${folder}/[!.@]*`, `${folder}/@*/*`], { cwd: root });
  return candidates
    .filter((path) => existsSync(join(root, path, 'package.json')))
    .flatMap((path) => [path, ...installedPackages(root, `${path}/node_modules`)])
    .sort();
}

/** The SPDX expression, without parentheses. Old packages have an object or a list of objects. */
export function licenceOf(manifest: unknown): string {
  const { license, licenses } = manifest as { license?: unknown; licenses?: unknown };
  const stated = [license ?? licenses ?? 'none'].flat() as (string | { type: string })[];
  const names = stated.map((entry) => (typeof entry === 'string' ? entry : entry.type));
  return names.join(' OR ').replaceAll(/[()]/g, '');
}
