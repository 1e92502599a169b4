/** The packages and the terminal of a user, who has Node, npm and git and nothing of this project. */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { madeOnce } from '../made-once.ts';

/**
 * Of somebody who has just opened a terminal: nothing of this test run's npm, Vitest or project, and not its Node 24. What npm
 * needs to reach its registry stays; its own configuration lies in HOME.
 */
const KEPT =
  /^(HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|SHELL|(http|https|no|all)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|globalconfig|cafile))$/i;

export const USERS_ENVIRONMENT: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !/[\\/](node_modules|node-gyp-bin)\b/.test(entry))
    .join(delimiter),
};

export interface Packed {
  /** The path of the file. */
  readonly path: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

/** Packs the package in a folder. */
export function pack(source: string, folder: string): Packed {
  const words = ['pack', '--json', '--pack-destination', folder];
  const output = execFileSync('npm', words, { cwd: source, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const [packed] = JSON.parse(output.slice(output.indexOf('[\n')));
  return { ...packed, path: join(folder, packed.filename) };
}

/** The package of the service, packed once in a run of tests. */
export async function packedService(): Promise<Packed> {
  const folder = await madeOnce('package', async (unfinished) => {
    await mkdir(unfinished);
    const packed = pack(join(import.meta.dirname, '../..'), unfinished);
    await writeFile(join(unfinished, 'packed.json'), JSON.stringify(packed));
  });
  const packed: Packed = JSON.parse(await readFile(join(folder, 'packed.json'), 'utf8'));
  return { ...packed, path: join(folder, basename(packed.path)) };
}
