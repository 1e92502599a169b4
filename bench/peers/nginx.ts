/** nginx with one worker, serving the published bytes as plain files with the header fields of the edge. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Server } from '../server-process.ts';
import type { Workspace } from '../workspace.ts';

/** A file to serve: its path in the site, and its bytes. */
export interface SiteFile {
  readonly path: string;
  readonly body: Uint8Array;
}

/** The levels that the embedded edge compresses at. */
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 5;

/** Starts nginx over the files, each of which is also there compressed. */
export async function startNginx(
  workspace: Workspace,
  files: readonly SiteFile[],
  listNextCursor: string | null,
): Promise<Server> {
  const folder = workspace.folder('nginx');
  for (const { path, body } of files) {
    const file = join(folder, 'site', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, body);
    writeFileSync(`${file}.gz`, gzipSync(body, { level: GZIP_LEVEL }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(body, { params }));
  }
  const port = await freePort();
  const config = join(folder, 'nginx.conf');
  writeFileSync(config, configText(folder, port, listNextCursor));
  const child = workspace.spawn('nginx', ['-p', folder, '-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { name: 'nginx', port, stop: () => workspace.end(child) };
}

/**
 * The configuration of a careful operator: sendfile, open files cached as long as the edge holds them fresh, no access log,
 * connections kept for good. Compressed files are chosen by name, because nginx has no brotli of its own.
 */
function configText(folder: string, port: number, listNextCursor: string | null): string {
  const link =
    listNextCursor === null ? '' : `add_header Link '</api/v1/markets?cursor=${listNextCursor}>; rel="next"';`;
  const fields = `
      add_header X-Content-Type-Options nosniff;
      add_header Cache-Control 'public, max-age=15, stale-if-error=300';
      add_header Vary Accept-Encoding;
      add_header Access-Control-Allow-Origin *;
      add_header Access-Control-Expose-Headers 'ETag, Age, Link, Cache-Status';
      add_header Age 0;
      add_header Cache-Status 'Tidemark; hit; ttl=15';
      add_header Content-Encoding $coding;`;
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
  tcp_nodelay on;
  open_file_cache max=10000 inactive=60s;
  open_file_cache_valid 15s;
  keepalive_requests 1000000000;
  keepalive_timeout 65s;
  server_tokens off;
  types {}
  default_type application/json;
  map $http_accept_encoding $suffix { default ''; ~br .br; ~gzip .gz; }
  map $http_accept_encoding $coding { default ''; ~br br; ~gzip gzip; }
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${folder}/site;
    location = /api/v1/markets {
      try_files /api/v1/markets.json$suffix =404;${fields}
      ${link}
    }
    location / {
      try_files $uri.json$suffix =404;${fields}
    }
  }
}
`;
}

/** nginx cannot tell which port it was given, so one is found for it. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the probe has no port');
  return address.port;
}
