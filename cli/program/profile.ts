/**
 * The deployment and the key of a command. They come from the first of these: options; the environment; the default profile of
 * the configuration file; the server that runs in the default data folder. If an option or the environment names a data folder,
 * only its own server is used: if none runs there, no other is asked.
 *
 * A key is sent only to the URL for which its owner has stored it: the key of a profile or of a data folder is sent to that
 * profile's or folder's own URL.
 */
import { join } from 'node:path';
import { baseUrl } from '../../clients/typescript/public-files.ts';
import { DEFAULT_DATA_FOLDER, serverOf } from '../../server/backup/control-socket.ts';
import { poll } from '../http/poll.ts';
import { configPath, readConfigFile, readSecret } from './config-file.ts';
import type { ProfileSettings } from './config-schema.ts';
import { CommandError } from './exit-codes.ts';
import { note } from './output.ts';

/** The options that every command has, as the parser returns them. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly url?: string;
  readonly writeUrl?: string;
  readonly keyFile?: string;
  readonly config?: string;
  readonly data?: string;
  readonly json?: boolean;
  /** Whether to hide progress. */
  readonly quiet?: boolean;
  /** The time limit of one answer, in seconds. */
  readonly timeout: number;
  /** The total time that a request may wait for retries, in seconds. Undefined: the default of the kind of request. */
  readonly patience?: number;
  readonly allowClearText?: boolean;
  readonly uploadHost?: string;
}

export interface Profile {
  readonly readUrl: URL;
  readonly writeUrl: URL;
  /** Another host to which large files may be sent, by https. Null: none. */
  readonly uploadHost: string | null;
  /** Null: no key was found. */
  readonly key: string | null;
  /** For messages: the origin of the key, or how to give one. */
  readonly keySource: string;
}

const DEFAULT_URL = 'http://127.0.0.1:8787';
const NO_KEY =
  'Set TIDEMARK_KEY, or name a file with --key-file, or a profile with --profile, or the data folder of a server on ' +
  'this machine with --data.';

interface Level {
  readonly url: string | undefined;
  readonly writeUrl: string | undefined;
  readonly uploadHost?: string | undefined;
  readonly key: string | null;
  readonly keySource: string;
}

/** @throws CommandError for invalid settings */
export async function readProfile(options: GlobalOptions): Promise<Profile> {
  const environment = process.env;
  const stated = statedLevel(options, environment);
  const level =
    stated.url === undefined && stated.writeUrl === undefined
      ? ((await profileLevel(options, environment)) ?? (await folderLevel(options, environment)))
      : stated;
  const url = parseUrl(level.url ?? level.writeUrl ?? DEFAULT_URL);
  const writeUrl = level.writeUrl === undefined ? url : parseUrl(level.writeUrl);
  const withKey = stated.key === null ? level : stated;
  const uploadHost = options.uploadHost ?? level.uploadHost ?? null;
  return {
    readUrl: url,
    writeUrl,
    uploadHost,
    key: withKey.key,
    keySource: withKey.key === null ? NO_KEY : withKey.keySource,
  };
}

function statedLevel(options: GlobalOptions, environment: NodeJS.ProcessEnv): Level {
  const { url, writeUrl, data, profile } = options;
  const isUrlStated = [url, writeUrl, data, profile].some((option) => option !== undefined);
  const urls = isUrlStated
    ? { url, writeUrl }
    : { url: environment.TIDEMARK_URL || undefined, writeUrl: environment.TIDEMARK_WRITE_URL || undefined };
  const isByName = isUrlStated && url === undefined && writeUrl === undefined;
  const isKeyOfUrl = Boolean(environment.TIDEMARK_URL || environment.TIDEMARK_WRITE_URL);
  // If the environment has a URL and a key, the key is only for that URL, not for a folder or profile.
  if (isByName && isKeyOfUrl && options.keyFile === undefined) return { ...urls, key: null, keySource: NO_KEY };
  const { keyFile = environment.TIDEMARK_KEY_FILE || undefined } = options;
  if (keyFile !== undefined) return { ...urls, key: readKeyFile(keyFile), keySource: keyFile };
  return { ...urls, key: environment.TIDEMARK_KEY || null, keySource: 'TIDEMARK_KEY' };
}

/** Null if a data folder is named instead, or if no profile is named and there is no default profile. */
async function profileLevel(options: GlobalOptions, environment: NodeJS.ProcessEnv): Promise<Level | null> {
  const path = options.config ?? configPath(environment);
  const file = await readConfigFile(path);
  const { profile, data } = options;
  const ofEnvironment = environment.TIDEMARK_PROFILE || (environment.TIDEMARK_DATA ? undefined : file?.default);
  const name = profile ?? (data === undefined ? ofEnvironment : undefined);
  if (name === undefined) return null;
  const settings: ProfileSettings | undefined =
    file !== null && Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
  if (settings === undefined) {
    const known = Object.keys(file?.profiles ?? {});
    const hint = known.length === 0 ? `Write it into ${path}.` : `The file has: ${known.join(', ')}.`;
    throw new CommandError('usage', `There is no profile ${JSON.stringify(name)} in ${path}.`, hint);
  }
  const { url, writeUrl, uploadHost, key = null, keyFile } = settings;
  const keySource = `the profile ${name} in ${path}`;
  return { url, writeUrl, uploadHost, key: keyFile === undefined ? key : readKeyFile(keyFile), keySource };
}

/** The server that runs in the data folder, with its operator key. */
async function folderLevel(options: GlobalOptions, environment: NodeJS.ProcessEnv): Promise<Level> {
  const named = options.data ?? (environment.TIDEMARK_DATA || null);
  const folder = named ?? DEFAULT_DATA_FOLDER;
  const running = async () => (await serverOf(folder)) ?? undefined;
  const { patience = 0 } = options;
  let url = await running();
  if (url === undefined && named !== null && patience > 0) {
    note(`No server runs in ${folder}. Waiting for one, up to ${patience} s.`);
    url = await poll(running, (address) => address !== undefined, patience);
  }
  if (url === undefined && named !== null) {
    throw new CommandError(
      'unreachable',
      `No server runs in ${folder}.`,
      `Start it: tidemark start --data ${folder}. Scheduled runs need no server: see docs/hosting-static.md, "Undo and remove".`,
    );
  }
  const keySource = join(folder, 'operator-key');
  return {
    url,
    writeUrl: undefined,
    key: url === undefined ? null : (readSecret(keySource)?.trim() ?? null),
    keySource,
  };
}

function readKeyFile(path: string): string {
  const key = readSecret(path)?.trim();
  if (key) return key;
  throw new CommandError('usage', `There is no key in ${path}.`, 'The file must hold the key alone, on one line.');
}

/** @throws CommandError unless it is a base URL with http or https */
export function parseUrl(text: string): URL {
  try {
    return baseUrl(text, 'The base URL');
  } catch (cause) {
    throw new CommandError('usage', `${(cause as Error).message}.`, null, { cause });
  }
}

/** @throws CommandError if no key was found, or if the key would be sent in clear text */
export function needKey({ key, keySource, writeUrl }: Profile, options: GlobalOptions): string {
  if (key === null) throw new CommandError('usage', 'This command needs a key, and none was found.', keySource);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new CommandError('usage', `The key of ${keySource} holds blanks or line breaks: it must hold the key alone.`);
  }
  if (writeUrl.protocol === 'https:' || isLoopbackName(writeUrl.hostname) || options.allowClearText) return key;
  throw new CommandError(
    'usage',
    `The key would travel to ${writeUrl.origin} in clear text.`,
    'Use its https URL. In a network that you trust: --allow-clear-text.',
  );
}

/** Whether the host name of a URL is this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
