/**
 * A copy of this machine, on which commands of root change nothing of it: a layer over its files, with processes and a network of
 * its own. `systemctl`, `journalctl` and `certbot` are stand-ins, because no systemd runs there and no certificate authority answers.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Machine {
  /** Runs a script of root, in the home of root. The network is the machine's own, but for a script that installs packages. */
  run(script: string, network?: 'own' | 'outside'): Promise<{ readonly code: number; readonly output: string }>;
  /** Puts a file there. */
  write(path: string, content: string | Uint8Array, mode?: number): void;
  stop(): Promise<void>;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function startMachine(folder: string): Promise<Machine> {
  const [layer, work, root] = ['layer', 'work', 'root'].map((name) => join(folder, name)) as [string, string, string];
  for (const each of [layer, work, root]) mkdirSync(each, { recursive: true });
  const write: Machine['write'] = (path, content, mode = 0o644) => {
    mkdirSync(join(layer, path, '..'), { recursive: true });
    writeFileSync(join(layer, path), content);
    chmodSync(join(layer, path), mode);
  };
  for (const name of ['systemctl', 'journalctl', 'certbot']) {
    write(`/usr/local/bin/${name}`, readFileSync(join(import.meta.dirname, 'stand-ins', name)), 0o755);
  }
  const script = `set -e
    mount --make-rprivate /
    mount -t overlay overlay -o lowerdir=/,upperdir=${layer},workdir=${work} ${root}
    mount -t proc proc ${root}/proc
    mount --bind /dev ${root}/dev
    mount -t tmpfs tmpfs ${root}/run
    ip link set lo up
    echo ready
    exec sleep infinity`;
  const holder = spawn('unshare', ['--mount', '--net', '--pid', '--fork', '--kill-child', 'bash', '-c', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([once(holder.stdout, 'data'), ended(holder)]);
  const [pid] = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').split(' ');
  const environment = { ...registry(), PATH, HOME: '/root', LANG: 'C.UTF-8' };
  return {
    write,
    run(text, network = 'own') {
      const spaces = ['--target', pid as string, '--mount', '--pid', ...(network === 'own' ? ['--net'] : [])];
      const certificate = { CURL_CA_BUNDLE: '/root/authority.pem', NODE_EXTRA_CA_CERTS: '/root/authority.pem' };
      const inside = ['chroot', root, 'bash', '-euo', 'pipefail', '-c', `exec 2>&1; cd /root; ${text}`];
      return new Promise((resolve) => {
        const env = network === 'own' ? { ...environment, ...certificate } : environment;
        execFile('nsenter', [...spaces, ...inside], { env, timeout: 180_000 }, (error, output) =>
          resolve({ code: error === null ? 0 : Number(error.code), output }),
        );
      });
    },
    async stop() {
      const gone = once(holder, 'close');
      holder.kill('SIGKILL');
      await gone;
    },
  };
}

async function ended(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'close');
  throw new Error(`the machine ended with ${code}`);
}

/** Where npm finds its registry. */
function registry(): NodeJS.ProcessEnv {
  const kept =
    /^((http|https|no|all)_proxy|NODE_EXTRA_CA_CERTS|npm_config_(registry|userconfig|globalconfig|cafile))$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => kept.test(name)));
}
