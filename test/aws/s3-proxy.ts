/** A proxy before an engine of S3: it counts what changes the bucket, and can take conditions out of requests. */
import { createServer, request } from 'node:http';
import { listeningForTest } from '../listening.ts';

export interface S3Proxy {
  readonly endpoint: string;
  /** `PUT /bucket/key` and so on, of each put and deletion that was passed on. */
  readonly changes: string[];
  /** Called before a change is passed on. */
  onChange: (change: string) => void;
}

/** @param options.dropsConditions of puts and deletions; then the engine must not look at signatures */
export async function startS3Proxy(engine: string, { dropsConditions = false } = {}): Promise<S3Proxy> {
  const proxy: S3Proxy = { endpoint: '', changes: [], onChange: () => {} };
  const server = createServer((incoming, answer) => {
    const { method = '', url = '', headers } = incoming;
    const isChange = method === 'PUT' || method === 'DELETE';
    if (isChange) {
      const change = `${method} ${url.split('?')[0]}`;
      proxy.onChange(change);
      proxy.changes.push(change);
    }
    const passed = { ...headers };
    if (isChange && dropsConditions) for (const name of ['if-match', 'if-none-match']) delete passed[name];
    const outgoing = request(new URL(url, engine), { method, headers: passed }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.on('error', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  return Object.assign(proxy, { endpoint: await listeningForTest(server) });
}
