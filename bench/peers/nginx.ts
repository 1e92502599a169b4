/** nginx with one worker, serving the published bytes as plain files with the header fields of the edge. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { MARKETS_URL, marketUrl } from '../../contract/routes.ts';
import { freePort } from '../free-port.ts';
import { placed } from '../processor-time.ts';
import type { Server } from '../server-process.ts';
import type { Workspace } from '../workspace.ts';

/** The levels that the embedded edge compresses at. */
const GZIP_LEVEL = 6;
const BROTLI_QUALITY = 5;

/** A folder of files for nginx. */
export class NginxSite {
  readonly folder: string;

  constructor(workspace: Workspace) {
    this.folder = workspace.folder('nginx');
    mkdirSync(dirname(this.#market('any')), { recursive: true });
  }

  /** The first page of the list, and compressed beforehand. */
  writeList(body: Uint8Array): void {
    const file = join(this.folder, 'list');
    writeFileSync(file, body);
    writeFileSync(`${file}.gz`, gzipSync(body, { level: GZIP_LEVEL }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(body, { params }));
  }

  writeMarket(slug: string, body: Uint8Array): void {
    writeFileSync(this.#market(slug), body);
  }

  #market(slug: string): string {
    return join(this.folder, 'site', marketUrl(slug));
  }
}

/** Header fields as they came: names and values in turn. */
export interface NginxFields {
  readonly list: readonly string[];
  readonly market: readonly string[];
}

/** Starts nginx over a site. Its answers have the fields given, as far as nginx does not make them itself. */
export async function startNginx(workspace: Workspace, site: NginxSite, fields: NginxFields): Promise<Server> {
  const port = await freePort();
  const config = join(site.folder, 'nginx.conf');
  writeFileSync(config, configText(site.folder, port, fields));
  const child = workspace.spawn(...placed('server', 'nginx', ['-p', site.folder, '-c', config, '-e', 'stderr']), {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { name: 'nginx', port, pid: child.pid as number, stop: () => workspace.end(child) };
}

/**
 * How many files nginx keeps open: as many as the edge keeps bodies of 1.1 KB in its 128 MiB, if the limits of this machine
 * let a process open so many.
 */
export const NGINX_OPEN_FILES = Math.min(40_000, openFilesLimit() - 2_048);

function openFilesLimit(): number {
  return Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
}

/**
 * The configuration of a careful operator: sendfile, open files cached as long as the edge holds objects fresh, no access
 * log, connections kept for good, no search for files. Compressed files are chosen by name, because nginx has no brotli of
 * its own; the usual values of Accept-Encoding are looked up in a table.
 */
function configText(folder: string, port: number, fields: NginxFields): string {
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile ${NGINX_OPEN_FILES + 2_048};
pcre_jit on;
${userInfo().uid === 0 ? `user ${userInfo().username};` : ''}
pid nginx.pid;
error_log stderr error;
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  open_file_cache max=${NGINX_OPEN_FILES} inactive=60s;
  open_file_cache_valid 15s;
  keepalive_requests 1000000000;
  keepalive_timeout 65s${has(fields.market, 'keep-alive') ? ' 65s' : ''};
  server_tokens off;
  types {}
  default_type application/json;
  map $http_accept_encoding $suffix { default ''; '' ''; br .br; gzip .gz; ~br .br; ~gzip .gz; }
  map $http_accept_encoding $coding { default ''; '' ''; br br; gzip gzip; ~br br; ~gzip gzip; }
  client_body_temp_path ${folder};
  proxy_temp_path ${folder};
  fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder};
  scgi_temp_path ${folder};
  server {
    listen 127.0.0.1:${port} backlog=1024;
    root ${folder}/site;
    location = ${MARKETS_URL} {
      alias ${folder}/list$suffix;
      add_header Content-Encoding $coding;
      ${addHeaders(fields.list)}
    }
    location / {
      ${addHeaders(fields.market)}
    }
  }
}
`;
}

/** Those that nginx makes itself. */
const MADE_BY_NGINX = [
  ...['accept-ranges', 'connection', 'content-encoding', 'content-length', 'content-type', 'date', 'etag'],
  ...['keep-alive', 'last-modified', 'transfer-encoding'],
];

/** Without Last-Modified, which the edge does not send. */
function addHeaders(fields: readonly string[]): string {
  const pairs = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []));
  const own = pairs.filter(([name = '']) => !MADE_BY_NGINX.includes(name.toLowerCase()));
  const lines = own.map(([name, value]) => `add_header ${name} '${value}';`);
  return [`add_header Last-Modified '';`, ...lines].join('\n      ');
}

function has(fields: readonly string[], wanted: string): boolean {
  return fields.some((name, at) => at % 2 === 0 && name.toLowerCase() === wanted);
}
