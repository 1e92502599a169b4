/**
 * Installs the packages of package-lock.json that node_modules lacks; if none is missing, it ends silently. It runs before
 * every npm command, so it has no dependencies, and avoids syntax that an old Node cannot parse.
 *
 *     node tools/install.mjs             the packages for `npm start`
 *     node tools/install.mjs --with-dev  the packages for everything else
 */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const modules = join(root, 'node_modules');
const withDev = process.argv.includes('--with-dev');
// By default, npm needs ten minutes to notice that there is no network.
const OPTIONS = [
  '--loglevel=error',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
];

if (Number(process.versions.node.split('.')[0]) < 20) {
  stop(`Tidemark needs Node 20 or newer; this is ${process.version}. Install one from nodejs.org.`);
}
if (!isInstalled(withDev)) {
  takeTurn();
  if (!isInstalled(withDev)) install();
}

/**
 * npm writes this copy of the lock file last. Optional packages are not compared, because most of them are for other
 * platforms.
 */
function isInstalled(includingDev) {
  const copy = join(modules, '.package-lock.json');
  if (!existsSync(copy) || !existsSync(join(modules, 'node', 'bin', 'node'))) return false;
  const [wanted, found] = [join(root, 'package-lock.json'), copy].map((path) => JSON.parse(readFileSync(path, 'utf8')));
  return Object.entries(wanted.packages).every(([path, { dev, devOptional, optional, integrity }]) => {
    if (path === '' || optional || devOptional || (dev && !includingDev)) return true;
    return found.packages[path] !== undefined && found.packages[path].integrity === integrity;
  });
}

function install() {
  // `npm ci` first removes the modules. Through a link, it would remove those of another clone.
  if (existsSync(modules) && lstatSync(modules).isSymbolicLink()) {
    stop(`${modules} is a link, and does not lead to the packages of this version: replace the link, then try again.`);
  }
  // Standard output may be a file that a command writes, so this goes to standard error.
  console.error('Installing dependencies (once) …');
  // If only development tools are missing, they are added: `npm ci` would remove the modules of a running server.
  const command = withDev && isInstalled(false) ? ['install', '--no-save'] : ['ci'];
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [program, ...args] = [...npm, ...command, withDev ? '--include=dev' : '--omit=dev', ...OPTIONS];
  const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) stop(`Dependencies could not be installed in ${root}: npm says why above. Then run this again.`);
  if (isInstalled(withDev)) return;
  stop(
    'npm did not fetch Node: allow the install script of `node` (`npm config set ignore-scripts false`), and run this again.',
  );
}

/**
 * One installation at a time, so that two terminals do not remove each other's modules. A lock whose holder has died is
 * ignored.
 */
function takeTurn() {
  const lock = join(tmpdir(), `tidemark-install${root.replace(/\W+/g, '-')}`);
  for (let isTold = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return process.on('exit', () => rmSync(lock, { force: true }));
    } catch (error) {
      if (error.code !== 'EEXIST') return stop(`${lock} cannot be written (${error.code}): make its folder writable.`);
    }
    if (isAlive(lock)) {
      if (!isTold) console.error(`Waiting for the installation that holds ${lock} …`);
      isTold = true;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    } else rmSync(lock, { force: true });
  }
}

function isAlive(lock) {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
