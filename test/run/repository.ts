/** For repositories whose job publishes without a server. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAIN } from '../cli/tidemark.ts';

/** Git asks for nobody's settings. */
export const AUTHOR = {
  ...{ GIT_AUTHOR_NAME: 'job', GIT_AUTHOR_EMAIL: 'job@job.example' },
  ...{ GIT_COMMITTER_NAME: 'job', GIT_COMMITTER_EMAIL: 'job@job.example', GIT_CONFIG_GLOBAL: '/dev/null' },
};

/** In the place of npm, which package.test.ts tries. */
export async function installTidemark(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules/.bin'), { recursive: true });
  await symlink(join(MAIN, '../..'), join(folder, 'node_modules/tidemark'));
  const command = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
  await writeFile(join(folder, 'node_modules/.bin/tidemark'), command, { mode: 0o755 });
}
