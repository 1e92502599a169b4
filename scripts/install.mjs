/**
 * Installs dependencies if they are missing or differ from package-lock.json; otherwise says nothing and returns. Runs
 * before `npm start` and `npm test`. So it depends on nothing, and avoids syntax that an old Node cannot parse: a user
 * with an old Node must read which version is needed, not a syntax error.
 *
 *     node scripts/install.mjs             what `npm start` needs
 *     node scripts/install.mjs --with-dev  what everything else needs
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MINIMUM_NODE_MAJOR = 20;
const LOCK_POLL_MS = 200;
const LOCK_WAIT_MS = 10 * 60 * 1000;
/** A lock is written in two steps. If it has no owner for this long, its owner died between them. */
const UNOWNED_LOCK_MS = 5000;

/** By default npm needs ten minutes to find out that there is no network. */
const RETRIES = ['--fetch-retries=2', '--fetch-retry-factor=2', '--fetch-retry-mintimeout=1000'];
const OPTIONS = ['--prefer-offline', ...RETRIES, '--no-audit', '--no-fund'];

/** Patterns in npm's output, and their remedies. The first match is printed. */
const REMEDIES = [
  [/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT/, offline],
  [/EACCES|EPERM|EROFS/, writable],
  [/ENOSPC/, () => 'The disk is full: free about 500 MB.'],
];

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)));
const modules = join(root, 'node_modules');
/** npm writes it as the last step of every installation. */
const installed = join(modules, '.package-lock.json');
/** Exists while npm adds to node_modules, and after npm was killed while it did. */
const unfinished = join(modules, '.unfinished-installation');
const withDev = process.argv.includes('--with-dev');

if (Number(process.versions.node.split('.')[0]) < MINIMUM_NODE_MAJOR) {
  stop(`Tidemark needs Node ${MINIMUM_NODE_MAJOR} or newer; this is ${process.version}. Install one from nodejs.org.`);
}
if (!isInstalled(withDev)) {
  takeLock();
  // The former owner of the lock may have installed everything already.
  if (!isInstalled(withDev)) install();
}

/**
 * Compares package-lock.json with the copy that npm leaves in node_modules, so that an installation by hand counts too.
 * Optional packages are not compared: most of them are for other platforms.
 */
function isInstalled(includingDev) {
  const wanted = readJson(join(root, 'package-lock.json'));
  const found = readJson(installed);
  if (wanted === null) stop(`${join(root, 'package-lock.json')} cannot be read: restore it with \`git checkout\`.`);
  if (found === null || existsSync(unfinished) || !hasPinnedNode()) return false;
  return Object.entries(wanted.packages).every(([path, { dev, devOptional, optional, version, integrity }]) => {
    if (path === '' || optional || devOptional || (dev && !includingDev)) return true;
    const copy = found.packages[path];
    return copy !== undefined && copy.version === version && copy.integrity === integrity;
  });
}

/** Node itself comes with an install script, which npm can be configured not to run. */
function hasPinnedNode() {
  return existsSync(join(modules, 'node', 'bin', 'node'));
}

function isLink(path) {
  return existsSync(path) && lstatSync(path).isSymbolicLink();
}

function install() {
  // Installing removes first, and through a link that would be the modules of another clone.
  if (isLink(modules)) {
    stop(`${modules} is a link, and what it leads to does not fit this version: replace the link, then try again.`);
  }
  // Not to standard output, which may be a file that a command writes.
  console.error('Installing dependencies (once) …');
  // If only development tools are missing, they are added: `npm ci` would remove the modules of a running `npm start`.
  const adds = withDev && isInstalled(false);
  const command = adds ? ['install', '--no-save', '--include=dev'] : ['ci', withDev ? '--include=dev' : '--omit=dev'];
  try {
    if (adds) writeFileSync(unfinished, '');
    else {
      // First, so that a half-removed folder does not look installed. `npm ci` removes the rest itself, but tries only
      // once, and the last child processes of an interrupted installation may still be writing.
      rmSync(installed, { force: true });
      rmSync(modules, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    }
  } catch (error) {
    stop(`Dependencies could not be installed: ${error.message}. ${writable()}`);
  }
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const [program, ...args] = npm.concat(command, OPTIONS);
  const result = spawnSync(program, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const output = `${result.stdout || ''}${result.stderr || ''}`;
  // A failed npm undoes its changes; a killed one does not.
  if (result.status !== null) rmSync(unfinished, { force: true });
  if (result.error) stop(`npm could not be run: ${result.error.message}. Install npm, or check your PATH.`);
  if (result.status !== 0) {
    process.stderr.write(output);
    const remedy = REMEDIES.find(([pattern]) => pattern.test(output));
    stop(
      `Dependencies could not be installed in ${root}: \`npm ${command[0]}\` ended with ${
        result.signal || `exit code ${result.status}`
      }; its output is above.\n${remedy ? remedy[1]() : 'Mend what it names, then run the command again.'}`,
    );
  }
  if (!hasPinnedNode()) {
    process.stderr.write(output);
    stop(
      'npm did not run the install script of the package `node`, which fetches the Node that Tidemark runs on.\n' +
        'Allow it (`npm config set ignore-scripts false`), then run the command again.',
    );
  }
}

function offline() {
  return 'The package registry did not answer. Check the network, and `npm config get registry` and proxy settings.';
}

function writable() {
  return `Make ${root} and npm's cache writable for this user, or clone into a folder of your own.`;
}

/**
 * One installation at a time, so that `npm start` and `npm test` can run in two terminals. The lock is a folder with
 * its owner's process id. It is outside the project, because node_modules is removed and made again. It is released
 * when this process ends; a lock whose owner has died is removed.
 */
function takeLock() {
  const lock = join(tmpdir(), `tidemark-install-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`);
  const owner = join(lock, 'pid');
  const startedAt = Date.now();
  let announced = false;
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(owner, String(process.pid));
      process.on('exit', () => rmSync(lock, { recursive: true, force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') stop(`The lock ${lock} cannot be made (${error.code}): make that folder writable.`);
    }
    if (isAbandoned(lock, owner)) {
      rmSync(lock, { recursive: true, force: true });
      continue;
    }
    if (Date.now() - startedAt > LOCK_WAIT_MS) {
      stop(`Another installation has held ${lock} for too long. If none is running, delete that folder.`);
    }
    if (!announced) console.error('Waiting for an installation that is already running …');
    announced = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}

function isAbandoned(lock, owner) {
  try {
    const pid = existsSync(owner) ? readFileSync(owner, 'utf8') : '';
    if (pid === '') return Date.now() - statSync(lock).mtimeMs > UNOWNED_LOCK_MS;
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // A living process of another user answers EPERM. If the lock was released in the meantime, it is not abandoned:
    // try again.
    return error.code === 'ESRCH';
  }
}

/** The parsed file; null if it cannot be read. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
