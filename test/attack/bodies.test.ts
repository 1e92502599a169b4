/** Attack: keep everybody else from writing, with bodies that are announced and not sent, or sent and not ended. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createReceivedBodies } from '../../server/http/received-bodies.ts';
import { answerWrites, createWriteServer } from '../../server/http/write-server.ts';
import { converse, type Edge, parseReply, startEdge } from '../server/edge/edge-fixture.ts';
import { openApiWorld } from '../write-api/world.ts';

const MIB = 1024 * 1024;
const LIMITS = { totalBytes: 16 * MIB, networkBytes: 6 * MIB, credentialBytes: 4 * MIB, receiveMs: 60_000 };

async function serving(requestsPerMinute = 1_000, receiveMs = LIMITS.receiveMs) {
  const world = openApiWorld({ scopes: { reader: ['watchlists:read'] }, requestsPerMinute });
  const bodies = createReceivedBodies({ ...LIMITS, receiveMs });
  let requests = 0;
  const divert = createWriteServer({
    answer: answerWrites(world.handle),
    newRequestId: () => `r${++requests}`,
    addressOf: () => '127.0.0.1',
    bodies,
  });
  const edge = await startEdge({ divert });
  onTestFinished(() => edge.close());
  return { edge, bodies };
}

const head = (authorization: string, more: string) =>
  `POST /api/v1/ingest/batches HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Type: application/json\r\n` +
  `Idempotency-Key: 0123456789abcdef\r\n${more}\r\n\r\n`;

const announcing = (bytes: number) => `Content-Length: ${bytes}`;

/** A connection of an attacker, which says this and then waits. */
async function hold(edge: Edge, bytes: string): Promise<{ readonly socket: Socket; read(): string }> {
  const socket = connect(edge.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk;
  });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return { socket, read: () => received };
}

async function statusOfWrite(edge: Edge, as: string): Promise<number> {
  const body = JSON.stringify({ name: 'Metals' });
  const request =
    `POST /api/v1/watchlists HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${as}\r\n` +
    `Content-Type: application/json\r\nIdempotency-Key: fedcba9876543210\r\nConnection: close\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  return parseReply(await converse(edge, request)).status;
}

test.each<[string, string, number]>([
  ['no credential', '', 401],
  ['a credential without the scope', 'Authorization: Bearer reader\r\n', 403],
])('64 announced bodies with %s are refused on their heads', async (_, authorization, status) => {
  const { edge, bodies } = await serving();
  const attack = head(authorization, announcing(MIB));
  const replies = await Promise.all(Array.from({ length: 64 }, () => converse(edge, attack)));
  expect(new Set(replies.map((reply) => parseReply(reply).status))).toEqual(new Set([status]));
  expect(bodies.bytes).toBe(0);
});

test('a body above the rate of its credential is refused on its head', async () => {
  const { edge } = await serving(1);
  await statusOfWrite(edge, 'mallory');
  const reply = parseReply(await converse(edge, head('Authorization: Bearer mallory\r\n', announcing(MIB))));
  expect(reply.status).toBe(429);
});

test('64 bodies that are announced with a credential and never come take no room from anybody', async () => {
  const { edge, bodies } = await serving();
  const attack = head('Authorization: Bearer mallory\r\n', announcing(MIB));
  await Promise.all(Array.from({ length: 64 }, () => hold(edge, attack)));
  expect([await statusOfWrite(edge, 'alice'), await statusOfWrite(edge, 'mallory')]).toEqual([201, 201]);
  expect(bodies.bytes).toBe(0);
});

test.each<[string, string]>([
  ['in one piece', 'x'],
  ['in chunks', `${MIB.toString(16)}\r\nx`],
])('a body %s that does not come in time is answered 408, and takes no room', async (how, sent) => {
  const { edge, bodies } = await serving(1_000, 200);
  const framing = how === 'in chunks' ? 'Transfer-Encoding: chunked' : announcing(MIB);
  const late = parseReply(await converse(edge, head('Authorization: Bearer mallory\r\n', framing) + sent));
  expect(late).toMatchObject({ status: 408, headers: { connection: 'close' } });
  expect([bodies.bytes, edge.reports]).toEqual([0, []]);
});

test.each<[string, string, (length: number) => string]>([
  ['with a length', announcing(MIB), (bytes) => 'x'.repeat(bytes)],
  ['in chunks', 'Transfer-Encoding: chunked', (bytes) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`],
])('bodies %s that never end take the room of their own credential, and no more', async (_, how, sent) => {
  const { edge, bodies } = await serving();
  const attack = head('Authorization: Bearer mallory\r\n', how);
  // Each lacks its last byte.
  const held = await Promise.all(Array.from({ length: 4 }, () => hold(edge, attack + sent(MIB - 1))));
  await expect.poll(() => bodies.bytes).toBe(4 * (MIB - 1));
  const next = await hold(edge, attack + sent(MIB - 1));
  await expect.poll(next.read).toMatch(/^HTTP\/1.1 429 /);
  expect(bodies.bytes).toBe(4 * (MIB - 1));
  expect(await statusOfWrite(edge, 'alice')).toBe(201);
  for (const { socket } of held) socket.destroy();
  await expect.poll(() => bodies.bytes).toBe(0);
  expect(await statusOfWrite(edge, 'mallory')).toBe(201);
});

test('bodies of many credentials from one network leave room for other networks', async () => {
  const { edge, bodies } = await serving();
  const attack = (name: string) => head(`Authorization: Bearer ${name}\r\n`, announcing(MIB)) + 'x'.repeat(MIB - 1);
  const held = await Promise.all(Array.from({ length: 12 }, (_, number) => hold(edge, attack(`mallory/k${number}`))));
  const refused = () => held.filter(({ read }) => read().startsWith('HTTP/1.1 429 ')).length;
  // They arrive side by side, so more than six may be refused before the first of those gives its room back.
  await expect.poll(() => bodies.bytes === (held.length - refused()) * (MIB - 1)).toBe(true);
  expect(refused()).toBeGreaterThanOrEqual(6);
});
