/** A host of git repositories over TLS: `git http-backend` (CGI, RFC 3875) behind a server that notes what is asked. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { listeningForTest } from '../listening.ts';
import { testAuthority } from '../sources/test-certificates.ts';

export interface GitHost {
  readonly origin: string;
  /** For git: the environment in which it trusts the host. */
  readonly environment: Readonly<Record<string, string>>;
  /** The requests, by method and path. */
  readonly asked: string[];
}

/** @param folder of the repositories */
export async function startGitHost(folder: string): Promise<GitHost> {
  const authority = testAuthority();
  const asked: string[] = [];
  const server = createServer(authority.issue(['localhost']), (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'https://localhost');
    asked.push(`${request.method} ${pathname}`);
    const { headers } = request;
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...process.env,
        ...{ GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1', PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
        ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: headers['content-type'] },
        ...{ GIT_PROTOCOL: String(headers['git-protocol'] ?? ''), HTTP_CONTENT_ENCODING: headers['content-encoding'] },
        ...(headers['content-length'] && { CONTENT_LENGTH: headers['content-length'] }),
      },
    });
    backend.stdin.on('error', () => {});
    request.pipe(backend.stdin);
    const pieces: Buffer[] = [];
    backend.stdout.on('data', (piece) => pieces.push(piece));
    backend.on('close', () => {
      const answer = Buffer.concat(pieces);
      const end = answer.indexOf('\r\n\r\n');
      for (const line of answer.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(answer.subarray(end + 4));
    });
  });
  const certificate = join(folder, 'authority.pem');
  await writeFile(certificate, authority.certificate);
  const origin = (await listeningForTest(server, 'localhost')).replace('http', 'https');
  return { origin, environment: { GIT_SSL_CAINFO: certificate, GIT_CONFIG_GLOBAL: '/dev/null' }, asked };
}
