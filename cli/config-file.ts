/**
 * The file with the profiles of this user: base URLs and keys. It holds secrets, so a file that others may read is
 * refused.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { flattenIssues, pointerOf } from '../contract/zod-pointers.ts';
import { CommandError } from './exit-codes.ts';

const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:/.test(text), { error: 'must be an http or https URL' });

const profileSchema = z.strictObject({
  /** The base URL of the public reads, e.g. `https://data.example`. */
  url: httpUrl,
  /** That of the write API; default: the same. */
  writeUrl: httpUrl.optional(),
  key: z.string().min(1).optional(),
  /** A file that holds the key alone. */
  keyFile: z.string().min(1).optional(),
});

const configSchema = z.strictObject({
  /** The profile that is used if no other is named. */
  default: z.string().optional(),
  profiles: z.record(z.string(), profileSchema),
});

export type ProfileSettings = z.infer<typeof profileSchema>;
export type ConfigFile = z.infer<typeof configSchema>;

type Environment = { readonly [name: string]: string | undefined };

export function configPath(environment: Environment): string {
  if (environment.TIDEMARK_CONFIG) return environment.TIDEMARK_CONFIG;
  return join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'tidemark', 'config.json');
}

/**
 * Null if there is no file.
 *
 * @throws CommandError if others may read it, or it is not as described
 */
export function readConfigFile(path: string): ConfigFile | null {
  const text = readSecret(path);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CommandError('usage', `${path} is not JSON: ${(cause as Error).message}`, null, { cause });
  }
  const parsed = configSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const faults = flattenIssues(parsed.error.issues).map(
    ({ path: place, message }) => `${pointerOf(place) || '/'}: ${message}`,
  );
  throw new CommandError('usage', `${path} is no configuration of tidemark`, faults.join('\n'));
}

/** @throws CommandError unless only its owner may read and write it, and that is this user */
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
    // Windows has neither.
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
