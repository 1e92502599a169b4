/** Requests through a reverse proxy, by its certificate. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import type { ReverseProxy } from './reverse-proxies.ts';

/** Why a program cannot be run here, which is printed, or null. @throws Error in CI, which installs all of them */
export function missingProgram(program: string): string | null {
  if (spawnSync(program, ['--help'], { stdio: 'ignore' }).error === undefined) return null;
  const reason = `${program} is not installed: apt-get install ${program}`;
  if (process.env.CI === 'true') throw new Error(reason);
  console.log(`Skipped: ${reason}`);
  return reason;
}

export interface Answer {
  readonly status: number;
  /** The values of a field, each line of its own. */
  all(name: string): readonly string[];
  field(name: string): string | undefined;
  readonly names: readonly string[];
  readonly body: Buffer;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** One request through the proxy, on a connection of its own. */
export async function askProxy({ url, certificate }: ReverseProxy, path: string, asked: Asked = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body } = asked;
  const { hostname, port } = new URL(url);
  // The path as it is: a URL would be normalised.
  const to = { hostname: hostname.replaceAll(/[[\]]/g, ''), port, path };
  const request = httpsRequest({ ...to, method, headers, ca: certificate.pem, agent: false });
  request.end(body);
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const raw: readonly string[] = response.rawHeaders;
  const names = raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const all = (name: string) => raw.filter((_, index) => index % 2 === 1 && names[(index - 1) / 2] === name);
  return { status: response.statusCode, names, all, field: (name) => all(name)[0], body: Buffer.concat(chunks) };
}
