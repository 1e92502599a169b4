/** The versions of one file in a git repository, as past versions of a list. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { PastVersion, PastVersions } from '../../lambdas/sources/past/version-reader.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { SettingError, StartError } from '../service/start-error.ts';
import { readGitFile, runGit } from './run-git.ts';

export interface GitFile {
  /** An https URL, or a folder with a repository. */
  readonly repository: string;
  /** The path of the file, from the root of the repository. */
  readonly path: string;
}

interface Commit extends PastVersion {
  /** The id of the file's content; null: the commit removes the file, or replaces it by something else. */
  readonly blob: string | null;
}

const REF = 'refs/heads/tidemark';
/** The number of versions that one request fetches. A host sends each as its difference from another. */
const FETCHED_AT_ONCE = 200;

/**
 * Fetches the repository's default branch into a bare one below `folder`, and lists the commits of the file. Contents are
 * fetched from a host when they are read. A commit counts from its committer's time. If that time is not later than the one
 * before, or is in the future, the commit counts from one millisecond after the one before: the order of the branch decides.
 *
 * @throws StartError for a repository or path that cannot be read
 */
export async function openGitVersions(
  file: GitFile,
  { folder, nowMs }: { readonly folder: string; readonly nowMs: number },
): Promise<PastVersions> {
  const { path } = file;
  const remote = checkGitFile(file);
  const own = resolve(folder, `${sha256Hex(Buffer.from(remote.place)).slice(0, 16)}.git`);
  await runGit(own, ['init', '--quiet', '--bare', '--', own]);
  // Set as the remote, so that git knows where to fetch missing files from.
  await runGit(own, ['config', 'remote.origin.url', remote.place]);
  const partial = remote.isHost ? ['--filter=blob:none'] : [];
  await runGit(own, ['fetch', '--quiet', '--no-tags', ...partial, '--', 'origin', `+HEAD:${REF}`]);
  const linkOf = permanentLink(remote.isHost ? remote.place : await originOf(remote.place), path);
  const versions = commitsIn(await logOf(own, path), nowMs, linkOf);
  if (versions.length === 0) throw new StartError(`No commit of ${file.repository} has a file ${path}.`);
  const places = new Map(versions.map(({ id }, index) => [id, index]));
  let fetchedTo = remote.isHost ? -1 : versions.length;
  return {
    origin: sha256Hex(Buffer.from(`${remote.place}\n${path}`)),
    versions,
    async read({ id }, maxBytes) {
      const place = places.get(id) as number;
      if (place > fetchedTo) {
        const wanted = versions.slice(place, place + FETCHED_AT_ONCE).flatMap(({ blob }) => blob ?? []);
        await fetchBlobs(own, wanted);
        fetchedTo = place + FETCHED_AT_ONCE - 1;
      }
      const { blob } = versions[place] as Commit;
      return blob === null ? null : await readGitFile(own, blob, maxBytes);
    },
  };
}

/** The location of the repository. Makes no request. @throws SettingError for a repository or path that cannot be one */
export function checkGitFile(file: GitFile): { readonly place: string; readonly isHost: boolean } {
  const remote = remoteOf(file);
  checkPath(file.path);
  return remote;
}

function remoteOf({ repository }: GitFile): { readonly place: string; readonly isHost: boolean } {
  if (/^https:\/\//.test(repository) && URL.canParse(repository)) {
    const { username, password, search, hash } = new URL(repository);
    if (username + password + search + hash === '') return { place: repository, isHost: true };
    throw new SettingError(
      '--git: write the URL without a password, a query and a fragment: git has a store for passwords.',
    );
  }
  const place = resolve(repository);
  const isFolder = !repository.startsWith('-') && existsSync(place) && statSync(place).isDirectory();
  if (isFolder && !['.git', 'HEAD'].some((name) => existsSync(resolve(place, name)))) {
    throw new SettingError(`--git: ${repository} is not a git repository.`);
  }
  if (isFolder) return { place, isHost: false };
  throw new SettingError('--git: name a folder with a repository, or an https:// URL.');
}

function checkPath(path: string): void {
  if (path.startsWith('-')) {
    throw new SettingError(`--path: ${path} begins with -, which git could read as an option: rename the file.`);
  }
  const isPlain = path !== '' && !/^\/|\p{Cc}/u.test(path) && !path.split('/').some((part) => /^\.{0,2}$/.test(part));
  if (!isPlain)
    throw new SettingError('--path: name a file from the root of the repository, such as data/prices.json.');
}

/** The address that a folder was cloned from; empty: unknown. */
async function originOf(folder: string): Promise<string> {
  const gitFolder = existsSync(resolve(folder, '.git')) ? resolve(folder, '.git') : folder;
  return (await runGit(gitFolder, ['config', '--default', '', '--get', 'remote.origin.url'])).trim();
}

/** One line for each commit of the file, oldest first. A merge counts with its changes to the branch. */
async function logOf(folder: string, path: string): Promise<string> {
  const form = ['--format=commit %H %ct', '--raw', '--no-abbrev', '--no-renames', '--no-color'];
  return await runGit(folder, ['log', '--first-parent', '-m', '--reverse', ...form, REF, '--', path]);
}

function commitsIn(log: string, nowMs: number, linkOf: ((commit: string) => string) | null): Commit[] {
  const commits: Commit[] = [];
  let lastMs = Number.NEGATIVE_INFINITY;
  for (const text of log.split(/^commit /m).slice(1)) {
    const [head = '', ...lines] = text.split('\n');
    const [id = '', seconds] = head.split(' ');
    const ownMs = Number(seconds) * 1000;
    lastMs = ownMs > lastMs && (ownMs <= nowMs || commits.length === 0) ? ownMs : lastMs + 1;
    const changes = lines.filter((line) => line.startsWith(':'));
    const [, mode = '', , blob = ''] = changes.length === 1 ? (changes[0] as string).split(' ') : [];
    const isFile = mode === '100644' || mode === '100755';
    commits.push({ id, seenAt: new Date(lastMs).toISOString(), url: linkOf?.(id) ?? null, blob: isFile ? blob : null });
  }
  return commits;
}

/** Fetches the contents in one request, except those that are here already. */
async function fetchBlobs(folder: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const how = ['--no-tags', '--no-write-fetch-head', '--recurse-submodules=no', '--filter=blob:none', '--stdin'];
  const words = ['-c', 'fetch.negotiationAlgorithm=noop', 'fetch', '--quiet', ...how, '--', 'origin'];
  await runGit(folder, words, `${[...new Set(ids)].join('\n')}\n`);
}

/** The public address of one version of a file, at hosts that keep every commit. */
const HOSTS: readonly { readonly pattern: RegExp; readonly raw: string }[] = [
  { pattern: /^(?:https:\/\/|ssh:\/\/git@|git@)(github\.com)[/:]([\w.-]+\/[\w.-]+)$/, raw: 'raw' },
  { pattern: /^(?:https:\/\/|ssh:\/\/git@|git@)(gitlab\.com)[/:]([\w.-]+(?:\/[\w.-]+)+)$/, raw: '-/raw' },
];

/** @param remote as git knows it. Null: not a known host, such as a folder */
export function permanentLink(remote: string, path: string): ((commit: string) => string) | null {
  for (const { pattern, raw } of HOSTS) {
    const [, host, name] = pattern.exec(remote.replace(/(\.git)?\/?$/, '')) ?? [];
    if (host === undefined || name === undefined || name.split('/').some((part) => /^\.+$/.test(part))) continue;
    const file = path.split('/').map(encodeURIComponent).join('/');
    return (commit) => `https://${host}/${name}/${raw}/${commit}/${file}`;
  }
  return null;
}
