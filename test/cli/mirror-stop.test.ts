/** `tidemark mirror --once`, which a supervisor stops in the middle of its round. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { marketUrl } from '../../contract/files/routes.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { testSigner, withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { finished, spawnTidemark } from './tidemark.ts';

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a round that waits for the service, and the next one goes on',
  async (signal) => {
    const world = createWorld(DEFAULT_PAGE_SIZES);
    await world.ingest(['a', 'b'].flatMap((slug) => [market(slug), price(slug, 0, 5)]));
    await publish(withLog(world.dependencies));
    const reader = loggedReader(world.objects);
    let isSilent = true;
    const held = Promise.withResolvers<void>();
    const server = createServer(async ({ url = '', headers }, response) => {
      // No answer, ever.
      if (isSilent && url === marketUrl('b')) return held.resolve();
      const answer = await reader(url, headers as Record<string, string>);
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(answer.body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const folder = join(await temporaryFolder(), 'mirror');
    const words = ['mirror', url, folder, '--once', '--json', '--log-key', testSigner().vkey];

    // Longer than this test may take.
    const child = spawnTidemark([...words, '--timeout', '3600']);
    const end = finished(child);
    await held.promise;
    child.kill(signal);
    const { code, output, errors } = await end;
    expect([code, errors], errors).toEqual([6, '']);
    expect(JSON.parse(output)).toMatchObject({ state: 'starting', generation: null, ageSeconds: null });

    isSilent = false;
    const again = await finished(spawnTidemark(words));
    expect(again.code, again.errors).toBe(0);
    expect(JSON.parse(again.output)).toMatchObject({ state: 'current', generation: 1 });
  },
);
