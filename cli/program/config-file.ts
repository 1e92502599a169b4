/**
 * The file with the profiles of this user: base URLs and keys. It contains secrets, so it is refused if other users can read
 * it.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ConfigFile } from './config-schema.ts';
import { CommandError } from './exit-codes.ts';

type Environment = { readonly [name: string]: string | undefined };

export function configPath(environment: Environment): string {
  if (environment.TIDEMARK_CONFIG) return environment.TIDEMARK_CONFIG;
  return join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'tidemark', 'config.json');
}

/**
 * Null: the file does not exist.
 *
 * @throws CommandError if other users can read it, or its content is invalid
 */
export async function readConfigFile(path: string): Promise<ConfigFile | null> {
  const text = readSecret(path);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CommandError('usage', `${path} is not JSON: ${(cause as Error).message}`, null, { cause });
  }
  const { checkConfig } = await import('./config-schema.ts');
  const result = checkConfig(json);
  if ('config' in result) return result.config;
  throw new CommandError('usage', `${path} is not a configuration of tidemark`, result.faults.join('\n'));
}

/** @throws CommandError unless the file belongs to this user, and other users can neither read nor write it */
export function readSecret(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new CommandError('usage', `${path} cannot be read: ${(cause as Error).message}`, null, { cause });
  }
  try {
    const { mode, uid } = fstatSync(file);
    // Windows has no user ids.
    const user = process.getuid?.();
    if (user !== undefined && uid !== user) {
      throw new CommandError('usage', `${path} belongs to another user: it may hold another key than yours.`);
    }
    if (user !== undefined && (mode & 0o077) !== 0) {
      throw new CommandError('usage', `${path} can be read by other users, and holds a key.`, `chmod 600 ${path}`);
    }
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    throw new CommandError('usage', `${path} cannot be read: ${(cause as Error).message}`, null, { cause });
  } finally {
    closeSync(file);
  }
}
