/**
 * MinIO (AGPL-3.0): a process beside the tests, never a part of them or of the package. It must be in the path:
 * `go install github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c`, which takes minutes.
 */
import { freePort } from '../../../tools/bench/free-port.ts';
import { type Engine, run, serve } from './engine.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

export const minio: Engine = {
  name: 'minio',
  version: 'in-path',
  isOptional: true,
  async install() {
    await run('minio', ['--version']);
  },
  async start(folder) {
    const [port, consolePort] = [await freePort(), await freePort()];
    const data = makeRunFolder(folder, 'data');
    const args = ['server', data, '--address', `127.0.0.1:${port}`, '--console-address', `127.0.0.1:${consolePort}`];
    const environment = { MINIO_ROOT_USER: 'engine', MINIO_ROOT_PASSWORD: 'engine-secret', MINIO_BROWSER: 'off' };
    const { endpoint, stop } = await serve(port, 'minio', args, environment);
    return {
      endpoint,
      async stop() {
        await stop();
        removeRunFolder(data);
      },
    };
  },
};
