/**
 * infra/hosting/docker/Dockerfile: its steps are run one after the other, and its command is started with a read-only root. No container
 * engine is needed, and none has built the image here.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../tools/bench/free-port.ts';
import { runStages, type Stage, startInStage } from '../hosting/dockerfile.ts';
import { watchServer } from '../server/server-process.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

const reason = process.getuid?.() === 0 && process.platform === 'linux' ? null : 'only root may mount the layers';
if (reason !== null) console.log(`Skipped: ${reason}`);

describe.skipIf(reason !== null)('the steps of the Dockerfile', () => {
  const temporary = folderForAll();
  let image: Stage;

  beforeAll(async () => {
    image = runStages(ROOT, 'infra/hosting/docker/Dockerfile', join(temporary.folder, 'stages')).at(-1) as Stage;
  });

  it('give an image that starts, is healthy, and stops at SIGTERM, with a read-only root and as a user without rights', async () => {
    const volume = join(temporary.folder, 'data');
    mkdirSync(volume, { mode: 0o700 });
    const more = { PORT: String(await freePort()) };
    const begin = (command: readonly string[]) => {
      const begun = watchServer(startInStage(image, temporary.folder, volume, command, more));
      onTestFinished(async () => void (await begun.end('SIGKILL')));
      return begun;
    };
    const server = begin([...image.entrypoint, ...image.command]);
    await server.started;
    expect(await begin(image.healthcheck).ended).toBe(0);
    // Everything was put below /data, by the image's user.
    expect(readFileSync(join(volume, 'operator-key'), 'utf8')).toMatch(/^tdm_/);
    expect(await server.end('SIGTERM'), server.errors()).toBe(0);
    expect(await begin(image.healthcheck).ended).toBe(1);
  });
});
