/** Requests that repeat the header block of the one before: the lane reads nothing of them but the URL. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { putObjects } from './lane-world.ts';
import { converseWithBoth, difference, startTwins, type Twins } from './twin-edges.ts';

const GOLD = '/api/v1/markets/gold-usd';
const TAIL = ' HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br\r\n\r\n';

/** Before the tail. */
const LINES = [
  `GET ${GOLD}`,
  `HEAD ${GOLD}`,
  'GET /api/v1/markets',
  'GET /api/v1/markets/no-such',
  'GET /nowhere',
  `GET HEAD ${GOLD}`,
  `GET GET ${GOLD}`,
  `HEAD GET ${GOLD}`,
  `GET  ${GOLD}`,
  `GET ${GOLD} `,
  `GET ${GOLD} ${GOLD}`,
  `GET\t${GOLD}`,
  `get ${GOLD}`,
  `GETS ${GOLD}`,
  `POST ${GOLD}`,
  `GET http://a${GOLD}`,
  `GET ${GOLD.slice(1)}`,
  `GET ${GOLD}.json`,
  `GET ${GOLD}\0`,
  `GET ${GOLD}\xff`,
  `GET ${GOLD}\r`,
  `GET ${GOLD} HTTP/1.1\r\nHost: b\r\n\r\nGET ${GOLD}`,
  `GET ${GOLD} HTTP/1.1\r\nHost: b\r\nX:`,
  `GET ${GOLD} HTTP/1.1\r\nContent-Length: 3\r\n\r\nGET ${GOLD}`,
  'GET',
  'GET ',
  'GE',
  '',
];

let twins: Twins;
beforeEach(async () => {
  twins = await startTwins();
  twins.each(putObjects);
});
afterEach(() => twins.close());

test.each(LINES)('%j before a known header block is understood as by node:http', async (line) => {
  const whole = (start: string) => ({ bytes: start + TAIL, pauses: true });
  // The first two make the object and the block known.
  const sent = [whole(`GET ${GOLD}`), whole(`GET ${GOLD}`), whole(line), whole(`GET ${GOLD}`)];
  const { lane, plain } = await converseWithBoth(twins, sent);
  expect(lane.text).toContain('Cache-Status: Tidemark; hit');
  expect(difference(lane, plain)).toBeNull();
});
