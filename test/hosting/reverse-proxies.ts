/** A proxy in its own process, with a configuration of infra/hosting/ in which only names, ports and paths are others. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../tools/bench/free-port.ts';

const DEPLOY = join(import.meta.dirname, '../../infra/hosting');

/** Starts a process, as `spawn` does. */
export type Spawn = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess;

export interface ReverseProxy {
  readonly url: string;
  readonly pid: number;
  /** By which clients know it. */
  readonly certificate: { readonly path: string; readonly pem: string };
  stop(): Promise<void>;
}

export interface NginxProxy extends ReverseProxy {
  /** For clear text. */
  readonly httpPort: number;
  /** What it has logged about requests. */
  accessLog(): string;
}

/** The file of infra/hosting/ with each text replaced. Throws if one is not there: the file has changed. */
function configured(file: string, replacements: ReadonlyMap<string, string>): string {
  let text = readFileSync(join(DEPLOY, file), 'utf8');
  for (const [from, to] of replacements) {
    if (!text.includes(from)) throw new Error(`infra/hosting/${file} has no ${from}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Starts nginx in front of the port on this machine. Its files are in the folder. */
export async function startNginxProxy(folder: string, originPort: number, start: Spawn = spawn): Promise<NginxProxy> {
  mkdirSync(join(folder, 'cache'));
  const own = [
    ['127.0.0.1:8787', `127.0.0.1:${originPort}`],
    ['/var/cache/tidemark', join(folder, 'cache')],
    ['/var/log/nginx/', `${folder}/`],
  ] as const;
  return startNginx(folder, 'nginx/tidemark.conf', own, start);
}

/** Starts nginx on a published folder. `originPort` is that of the service; null: there is none. */
export async function startNginxFolder(
  folder: string,
  published: string,
  originPort: number | null,
): Promise<NginxProxy> {
  const service =
    originPort === null ? ['default @service;', 'default @nobody;'] : ['127.0.0.1:8787', `127.0.0.1:${originPort}`];
  return startNginx(folder, 'nginx/folder.conf', [
    ['/var/lib/tidemark/public', published],
    service as [string, string],
  ]);
}

async function startNginx(
  folder: string,
  file: string,
  own: readonly (readonly [string, string])[],
  start: Spawn = spawn,
): Promise<NginxProxy> {
  const [tlsPort, httpPort] = [await freePort(), await freePort()];
  const certificate = makeCertificate(folder);
  const site = configured(
    file,
    new Map([
      ['listen 443 ', `listen 127.0.0.1:${tlsPort} `],
      ['listen [::]:443 ', `listen [::1]:${tlsPort} `],
      ['listen 80;', `listen 127.0.0.1:${httpPort};`],
      ['listen [::]:80;', `listen [::1]:${httpPort};`],
      ['/etc/letsencrypt/live/data.example/fullchain.pem', certificate.path],
      ['/etc/letsencrypt/live/data.example/privkey.pem', join(folder, 'key.pem')],
      ...own,
    ]),
  );
  writeFileSync(join(folder, 'tidemark.conf'), site);
  const main = join(folder, 'nginx.conf');
  writeFileSync(main, mainConfiguration(folder));
  execFileSync('nginx', ['-t', '-q', '-p', folder, '-c', main, '-e', join(folder, 'error.log')]);
  const child = start('nginx', ['-p', folder, '-c', main, '-e', join(folder, 'error.log')], { stdio: 'ignore' });
  const ended = once(child, 'close');
  await listening(tlsPort);
  return {
    url: `https://localhost:${tlsPort}`,
    pid: child.pid as number,
    httpPort,
    certificate,
    accessLog: () => readFileSync(join(folder, 'access.log'), 'utf8'),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Starts Caddy in front of the port on this machine. Its certificate is a file here, not one that it gets for itself. */
export async function startCaddyProxy(folder: string, originPort: number, start: Spawn = spawn): Promise<ReverseProxy> {
  return startCaddy(folder, 'caddy/Caddyfile', [['127.0.0.1:8787', `127.0.0.1:${originPort}`]], start);
}

/** Starts Caddy on a published folder. `originPort` is that of the service; null: there is none. */
export async function startCaddyFolder(
  folder: string,
  published: string,
  originPort: number | null,
): Promise<ReverseProxy> {
  const service =
    originPort === null ? ['import service', 'import nobody'] : ['127.0.0.1:8787', `127.0.0.1:${originPort}`];
  return startCaddy(folder, 'caddy/folder.Caddyfile', [
    ['/var/lib/tidemark/public', published],
    service as [string, string],
  ]);
}

async function startCaddy(
  folder: string,
  configuration: string,
  own: readonly (readonly [string, string])[],
  start: Spawn = spawn,
): Promise<ReverseProxy> {
  const port = await freePort();
  const certificate = makeCertificate(folder);
  const site = configured(
    configuration,
    new Map([['data.example {', `localhost:${port} {\n\ttls ${certificate.path} ${join(folder, 'key.pem')}`], ...own]),
  );
  const file = join(folder, 'Caddyfile');
  // Neither the port for commands to it, nor port 80.
  writeFileSync(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
  const child = start('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env.PATH ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdio: ['ignore', 'ignore', openSync(join(folder, 'error.log'), 'w')],
  });
  const ended = once(child, 'close');
  await listening(port);
  return {
    url: `https://localhost:${port}`,
    pid: child.pid as number,
    certificate,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** As Debian has it around the files of conf.d, with its `gzip on`. */
function mainConfiguration(folder: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  return `
daemon off;
worker_processes 1;
${userInfo().uid === 0 ? `user ${userInfo().username};` : ''}
pid nginx.pid;
events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  gzip on;
  ${temporary.join('\n  ')}
  include ${folder}/tidemark.conf;
}
`;
}

/** A certificate of its own, for localhost. */
function makeCertificate(folder: string): ReverseProxy['certificate'] {
  const path = join(folder, 'certificate.pem');
  const names = 'subjectAltName=DNS:localhost,DNS:data.example,IP:127.0.0.1,IP:::1';
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc', '-days', '2'];
  const out = ['-subj', '/CN=localhost', '-addext', names, '-keyout', join(folder, 'key.pem'), '-out', path];
  execFileSync('openssl', ['req', ...kind, ...out], { stdio: 'ignore' });
  return { path, pem: readFileSync(path, 'utf8') };
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await sleep(20);
  }
  throw new Error(`nothing listens on port ${port}`);
}
