/**
 * The minimum that node:http can do: gives one recorded answer to every request, without reading it. The difference to
 * the edge is the edge's own work. Prints its port.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The recorded answer, as JSON. */
export interface Recording {
  readonly status: number;
  /** Names and values in turn, without those that node:http sets itself. */
  readonly fields: readonly string[];
  readonly bodyBase64: string;
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new RangeError('give the path of a recording');
const { status, fields, bodyBase64 } = JSON.parse(readFileSync(path, 'utf8')) as Recording;
const bytes = Buffer.from(bodyBase64, 'base64');
// As the edge does: a short body is written as text together with its header; a long one is better not copied.
const body = bytes.length <= 16_384 ? bytes.toString('latin1') : bytes;
const server = createServer({ keepAliveTimeout: 65_000 }, (_request, response) => {
  response.writeHead(status, [...fields]);
  if (bytes.length === 0) response.end();
  else response.end(body, 'latin1');
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
