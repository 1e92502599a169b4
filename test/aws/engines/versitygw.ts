/**
 * Versity S3 Gateway (Apache-2.0): S3 over a folder, many requests at once, each write under a lock together with its
 * condition. Needs Go, and a file system with extended attributes.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Engine, freePort, run, serve } from './engine.ts';

const VERSION = '1.8.0';

export const versitygw: Engine = {
  name: 'versitygw',
  version: VERSION,
  async install(folder) {
    // Unoptimised and without debugging information it is built faster, and still fast enough for tests.
    const flags = ['-gcflags=all=-N -l', '-ldflags=-s -w'];
    const command = `github.com/versity/versitygw/cmd/versitygw@v${VERSION}`;
    await run('go', ['install', ...flags, command], { GOBIN: join(folder, 'bin') });
  },
  async start(folder) {
    const port = await freePort();
    // Beside the installation: a folder for temporary files is often in memory, without extended attributes.
    const data = await mkdtemp(join(folder, 'data-'));
    const environment = { ROOT_ACCESS_KEY: 'engine', ROOT_SECRET_KEY: 'engine' };
    const args = ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', data];
    const { endpoint, stop } = await serve(port, join(folder, 'bin', 'versitygw'), args, environment);
    return {
      endpoint,
      async stop() {
        await stop();
        await rm(data, { recursive: true, force: true });
      },
    };
  },
};
