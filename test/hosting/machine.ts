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

/** The files of systemctl, each started as its unit says; the log of a unit is /var/log/NAME.journal. */
const SYSTEMCTL = String.raw`#!/bin/bash
set -eu
words=(); for word in "$@"; do [[ $word == --* ]] || words+=("$word"); done
verb=${'${words[0]}'}
of() { sed -n "s/^$1=//p" "$unit"; }
start() {
  unit=/etc/systemd/system/$name.service
  environment=()
  for pair in $(of Environment) $(cat $(of EnvironmentFile | sed 's/^-//') /dev/null 2>/dev/null || true); do environment+=("$pair"); done
  user=$(of User); state=/var/lib/$(of StateDirectory)
  [ -d $state ] || install -d -m "$(of StateDirectoryMode)" -o $user -g $user $state
  as=(env -i "${'${environment[@]}'}" setpriv --reuid $user --regid $user --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all)
  cd "$(of WorkingDirectory)"; umask "$(of UMask)"
  if [ "$(of Type)" = oneshot ]; then exec "${'${as[@]}'}" $(of ExecStart) >>/var/log/$name.journal 2>&1; fi
  setsid "${'${as[@]}'}" $(of ExecStart) >>/var/log/$name.journal 2>&1 </dev/null &
  echo $! > /run/$name.pid
  eval "post=($(of ExecStartPost | sed 's/^-//'))"
  "${'${as[@]}'}" "${'${post[@]}'}" || true
}
stop() {
  pid=$(cat /run/$name.pid 2>/dev/null || true)
  [ -n "$pid" ] && kill "$pid" 2>/dev/null || return 0
  # Nobody waits for it here, so it stays as a zombie.
  while [ -d /proc/$pid ] && ! grep -q '^State:.Z' /proc/$pid/status; do sleep 0.1; done
}
for name in "${'${words[@]:1}'}"; do
  [[ $name == *.timer ]] && { test -f /etc/systemd/system/$name; continue; }
  name=${'${name%.service}'}
  if [ $name = nginx ]; then if [ -s /run/nginx.pid ]; then nginx -s reload; else nginx; fi; continue; fi
  case $verb in
    enable | start) start ;;
    stop) stop ;;
    restart) stop; start ;;
    *) echo "this systemctl knows no $verb" >&2; exit 1 ;;
  esac
done
`;

const JOURNALCTL = `#!/bin/bash
cat /var/log/tidemark.journal
`;

const CERTBOT = `#!/bin/bash
set -eu
while [ $# -gt 0 ]; do if [ "$1" = --domain ]; then domain=$2; fi; shift; done
live=/etc/letsencrypt/live/$domain
mkdir -p $live
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 2 -subj /CN=$domain -addext subjectAltName=DNS:$domain \\
  -keyout $live/privkey.pem -out $live/fullchain.pem 2>/dev/null
cp $live/fullchain.pem /root/authority.pem
echo 127.0.0.1 $domain >> /etc/hosts
`;

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export async function startMachine(folder: string): Promise<Machine> {
  const [layer, work, root] = ['layer', 'work', 'root'].map((name) => join(folder, name)) as [string, string, string];
  for (const each of [layer, work, root]) mkdirSync(each, { recursive: true });
  const write: Machine['write'] = (path, content, mode = 0o644) => {
    mkdirSync(join(layer, path, '..'), { recursive: true });
    writeFileSync(join(layer, path), content);
    chmodSync(join(layer, path), mode);
  };
  write('/usr/local/bin/systemctl', SYSTEMCTL, 0o755);
  write('/usr/local/bin/journalctl', JOURNALCTL, 0o755);
  write('/usr/local/bin/certbot', CERTBOT, 0o755);
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
