/** `tidemark doctor --mirror`: how far a mirror is behind, by the documents of both. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { examineMirror } from '../../server/doctor/mirror.ts';

type Documents = Readonly<Record<string, string>>;

async function serve(documents: (own: string) => Documents): Promise<URL> {
  const server = createServer(({ url = '' }, response) => {
    const text = documents(origin)[url];
    response.writeHead(text === undefined ? 404 : 200).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return new URL(origin);
}

const CHECKPOINT = `tidemark.test/log\n120\n${'A'.repeat(43)}=\n\n— tidemark.test/log AAAA\n`;
const startService = () =>
  serve(() => ({ '/api/v1/snapshot': '{"generation":9}', '/api/v1/log/checkpoint': CHECKPOINT }));

const CURRENT = { state: 'current', generation: 9, ageSeconds: 5, log: { origin: 'tidemark.test/log', size: 120 } };

test.each<[string, object, string, RegExp]>([
  ['up to date', {}, 'ok', /confirmed 5 seconds ago; behind by 0 generations and 0 entries/],
  ['behind', { generation: 7, log: { origin: 'x', size: 100 } }, 'ok', /behind by 2 generations and 20 entries/],
  ['old', { ageSeconds: 3_600 }, 'warning', /60 minutes ago/],
  ['without a first copy', { generation: null, ageSeconds: null }, 'warning', /first copy/],
  ['that takes something not over', { state: 'faulty' }, 'fault', /faulty/],
  ['that has seen a fork', { state: 'forked' }, 'fault', /contradicts itself/],
  ['of another service', { of: 'https://other.example' }, 'fault', /copies https:\/\/other\.example/],
  ['of a service without a log', { log: null }, 'ok', /behind by 0 generations$/],
  ['that is none', { of: 5 }, 'fault', /./],
])('a mirror %s', async (_, changes, state, detail) => {
  const service = await startService();
  const document = JSON.stringify({ of: service.origin, ...CURRENT, ...changes });
  const mirror = await serve(() => ({ '/api/v1/mirror': document }));
  const found = await examineMirror(mirror, service, 5);
  expect(found).toEqual([expect.objectContaining({ check: 'mirror', state, detail: expect.stringMatching(detail) })]);
});

test('a service is no mirror', async () => {
  const service = await startService();
  expect(await examineMirror(service, service, 5)).toMatchObject([{ state: 'fault' }]);
});
