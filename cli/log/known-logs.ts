/**
 * The logs that this user has checked: for each base URL the keys, and the last signed checkpoint. The file is not secret, but
 * a person who changes it could hide a fork. So it has mode 600, beside the file of profiles.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { parseNote } from '../../contract/log/notes.ts';
import { configPath, readSecret } from '../program/config-file.ts';
import { CommandError } from '../program/exit-codes.ts';
import type { GlobalOptions } from '../program/profile.ts';

const knownLogSchema = z.strictObject({
  /** Verifier keys, oldest first. */
  vkeys: z.array(z.string()).min(1),
  /** The signed note. */
  checkpoint: z.string(),
});

const fileSchema = z.record(z.string(), knownLogSchema);

export type RememberedLog = z.infer<typeof knownLogSchema>;

/** `logs.json` in the folder of the configuration file. */
export function knownLogsPath(options: Pick<GlobalOptions, 'config'>, environment = process.env): string {
  return join(dirname(options.config ?? configPath(environment)), 'logs.json');
}

/**
 * The stored logs by base URL.
 *
 * @throws CommandError if other users may change the file, or its content is damaged
 */
export function readKnownLogs(path: string): ReadonlyMap<string, RememberedLog> {
  const text = readSecret(path);
  if (text === null) return new Map();
  const parsed = fileSchema.safeParse(jsonOf(text));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new CommandError(
    'usage',
    `${path} is not as this program writes it.`,
    'Remove it to forget which checkpoints were seen. Then a log that was changed before is not noticed.',
  );
}

/** The base URLs at which this user has checked a log of this origin, with its keys there. */
export function knownLogsOf(origin: string, path: string): ReadonlyMap<string, readonly string[]> {
  const logs = [...readKnownLogs(path)].filter(([, { checkpoint }]) => originOf(checkpoint) === origin);
  return new Map(logs.map(([url, { vkeys }]) => [url, vkeys]));
}

/** The origin that a signed checkpoint names. @throws LogFaultError for any other text */
export function originOf(checkpoint: string): string {
  return parseCheckpoint(parseNote(checkpoint).text).origin;
}

/** Replaces the whole file, so that a crash leaves either the old file or the new one. */
export function rememberLog(path: string, url: string, known: RememberedLog): void {
  const logs = new Map(readKnownLogs(path)).set(url, known);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(Object.fromEntries(logs), null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (cause) {
    const message = `The checkpoint cannot be remembered in ${path}: ${(cause as Error).message}`;
    throw new CommandError('usage', message, 'Name a configuration file in a folder of yours with --config.', {
      cause,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
