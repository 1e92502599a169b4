/**
 * infra/hosting/docker/Dockerfile: its steps are run one after the other, and its command is started with a read-only root. No container
 * engine is needed, and none has built the image here.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../tools/bench/free-port.ts';
import { runStages, type Stage, startInStage } from '../hosting/dockerfile.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

const reason = process.getuid?.() === 0 && process.platform === 'linux' ? null : 'only root may mount the layers';
if (reason !== null) console.log(`Skipped: ${reason}`);

describe.skipIf(reason !== null)('the steps of the Dockerfile', () => {
  const temporary = folderForAll();
  let image: Stage;
  const running: ChildProcess[] = [];

  beforeAll(async () => {
    image = runStages(ROOT, 'infra/hosting/docker/Dockerfile', join(temporary.folder, 'stages')).at(-1) as Stage;
  });
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL');
  });

  it('give an image that starts, is healthy, and stops at SIGTERM, with a read-only root and as a user without rights', async () => {
    const volume = join(temporary.folder, 'data');
    mkdirSync(volume, { mode: 0o700 });
    const more = { PORT: String(await freePort()) };
    const begin = (command: readonly string[]) => {
      const child = startInStage(image, temporary.folder, volume, command, more);
      running.push(child);
      return { child, ended: once(child, 'close') };
    };
    const server = begin([...image.entrypoint, ...image.command]);
    let output = '';
    server.child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    server.child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
    });
    await new Promise<void>((resolve, reject) => {
      server.child.stdout.on('data', () => /curl -i \S+/.test(output) && resolve());
      void server.ended.then(() => reject(new Error(`it ended:\n${output}`)));
    });
    expect((await begin(image.healthcheck).ended)[0]).toBe(0);
    // Everything was put below /data, by the image's user.
    expect(readFileSync(join(volume, 'operator-key'), 'utf8')).toMatch(/^tdm_/);
    server.child.kill('SIGTERM');
    expect((await server.ended)[0], output).toBe(0);
    expect((await begin(image.healthcheck).ended)[0]).toBe(1);
  });

  it('are based on the Node that the service pins', () => {
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(image.base).toBe(`node:${dependencies.node}-bookworm-slim`);
  });
});
