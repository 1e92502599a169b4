/** The Dockerfile, judged by BuildKit's own checks, and the Compose file, by Compose's own loader. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const JUDGE = join(toolFolder('deploy-tools'), 'judge');
const DEPLOY = join(import.meta.dirname, '../../infra/hosting');
const FILES = ['docker/Dockerfile', 'compose.yaml'] as const;

describe('the judge of infra/hosting/', () => {
  test('finds nothing', async () => {
    expect(await runTool(JUDGE, FILES, { cwd: DEPLOY })).toMatchObject({ exitCode: 0, output: '' });
  });

  test.each<[string, (typeof FILES)[number], string, string, string]>([
    ['a command without its own process', 'docker/Dockerfile', 'CMD ["start"]', 'CMD start', 'JSONArgsRecommended'],
    ['an instruction that is not there', 'docker/Dockerfile', 'EXPOSE', 'EXPOSES', 'EXPOSES'],
    ['a setting that is not there', 'compose.yaml', 'read_only:', 'read_onli:', 'read_onli'],
    ['a volume that is not there', 'compose.yaml', '- data:/data', '- date:/data', 'date'],
  ])('would find %s', async (_, file, from, to, named) => {
    const folder = await temporaryFolder();
    const text = await readFile(join(DEPLOY, file), 'utf8');
    const name = file === 'compose.yaml' ? file : 'Dockerfile';
    await writeFile(join(folder, name), text.replace(from, to));
    const { exitCode, output } = await runTool(JUDGE, [name], { cwd: folder });
    expect([exitCode, output]).toEqual([1, expect.stringContaining(named)]);
  });
});
