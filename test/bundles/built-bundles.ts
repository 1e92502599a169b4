/** The bundles of all functions, built once in a run of tests. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Bundle, buildLambdas } from '../../tools/build/build-lambdas.ts';
import { madeOnce } from '../made-once.ts';

/** Below the folder they are as the build leaves them. Tests only read it. */
export async function builtBundles(): Promise<{ readonly folder: string; readonly bundles: readonly Bundle[] }> {
  const folder = await madeOnce('bundles', async (unfinished) => {
    await writeFile(join(unfinished, 'bundles.json'), JSON.stringify(await buildLambdas(unfinished)));
  });
  return { folder, bundles: JSON.parse(await readFile(join(folder, 'bundles.json'), 'utf8')) };
}
