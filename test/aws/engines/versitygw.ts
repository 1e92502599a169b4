/**
 * Versity S3 Gateway (Apache-2.0): S3 over a folder, many requests at once, each write under a lock together with its
 * condition. Needs Go, and a file system with extended attributes.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../tools/bench/free-port.ts';
import { type Engine, GO_FLAGS, run, serve } from './engine.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

const VERSION = '1.8.0';

export const versitygw: Engine = {
  name: 'versitygw',
  version: VERSION,
  async install(folder) {
    const command = `github.com/versity/versitygw/cmd/versitygw@v${VERSION}`;
    await run('go', ['install', command], { ...GO_FLAGS, GOBIN: join(folder, 'bin') });
  },
  async start(folder) {
    const port = await freePort();
    // Beside the installation: a folder for temporary files is often in memory, without extended attributes.
    const data = makeRunFolder(folder, 'data');
    const environment = { ROOT_ACCESS_KEY: 'engine', ROOT_SECRET_KEY: 'engine-secret' };
    const events = await answerTestEvent();
    const args = ['--port', `127.0.0.1:${port}`, '--event-webhook-url', events.url, '--quiet', 'posix', data];
    const { endpoint, stop } = await serve(port, join(folder, 'bin', 'versitygw'), args, environment).finally(
      events.close,
    );
    return {
      endpoint,
      eventsUrl: events.url,
      async stop() {
        await stop();
        removeRunFolder(data);
      },
    };
  },
};

/**
 * The address to which the gateway posts an event for each put, without waiting for an answer. A test may listen there
 * later. The gateway starts only if its first event is answered.
 */
async function answerTestEvent(): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => response.writeHead(200, { connection: 'close' }).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
