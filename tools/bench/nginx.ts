/** nginx with one worker: serves the bodies of a service as plain files, with the header fields of the service. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { MARKETS_URL } from '../../contract/files/routes.ts';
import { freePort } from './free-port.ts';
import { placed } from './processor-time.ts';
import type { MeasuredServer } from './service.ts';
import type { Workspace } from './workspace.ts';

/** Copies the list's first page and this path from the service, and serves them. */
export async function startNginx(workspace: Workspace, service: string, path: string): Promise<MeasuredServer> {
  const folder = workspace.folder('nginx');
  const port = await freePort();
  mkdirSync(dirname(join(folder, 'site', path)), { recursive: true });
  writeFileSync(join(folder, 'site', path), await bodyOf(await fetch(`${service}${path}`)));
  const list = await fetch(`${service}${MARKETS_URL}`);
  const page = await bodyOf(list);
  writeFileSync(join(folder, 'list'), page);
  writeFileSync(join(folder, 'list.gz'), gzipSync(page, { level: 6 }));
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, configText(folder, port, addHeaders(list)));
  const child = workspace.spawn(...placed('server', 'nginx', ['-p', folder, '-c', config, '-e', 'stderr']), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100 && !(await fetch(`${url}${path}`).catch(() => null)); tries++) await sleep(50);
  return { url, pid: child.pid as number, stop: () => workspace.end(child) };
}

async function bodyOf(answer: Response): Promise<Buffer> {
  if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

/**
 * A careful operator's configuration: sendfile, open files cached for as long as bodies are fresh, no log, connections kept
 * open.
 */
function configText(folder: string, port: number, fields: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  return `
daemon off;
worker_processes 1;
${userInfo().uid === 0 ? `user ${userInfo().username};` : ''}
pid nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  open_file_cache max=1000 inactive=60s;
  open_file_cache_valid 15s;
  keepalive_requests 1000000000;
  server_tokens off;
  gzip_static on;
  types {}
  default_type application/json;
  ${temporary.join('\n  ')}
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${folder}/site;
    ${fields}
    location = ${MARKETS_URL} { alias ${folder}/list; }
  }
}
`;
}

/** The fields that nginx does not add itself, without Last-Modified, which the service does not send. */
function addHeaders({ headers }: Response): string {
  const own = [...headers].filter(
    ([name]) => !/^(accept-ranges|connection|content-|date|etag|keep-alive|transfer-)/.test(name),
  );
  return [`add_header Last-Modified '';`, ...own.map(([name, value]) => `add_header ${name} '${value}';`)].join(
    '\n    ',
  );
}
