/**
 * The logs that this user has checked: for each origin the keys, and the last signed checkpoint at each base URL. The file is
 * not secret, but a person who changes it could hide a fork. So it has mode 600, beside the file of profiles.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { parseNote } from '../../contract/log/notes.ts';
import { configPath, readSecret } from '../program/config-file.ts';
import { CommandError } from '../program/exit-codes.ts';
import type { GlobalOptions } from '../program/profile.ts';

const vkeysSchema = z.array(z.string()).min(1);

const knownLogSchema = z.strictObject({
  /** Verifier keys, oldest first. */
  vkeys: vkeysSchema,
  /** The newest signed note that was seen at each base URL. A mirror may be behind its service. */
  checkpoints: z.record(z.string(), z.string()),
});

const fileSchema = z.record(z.string(), knownLogSchema);

const fileOfUrlsSchema = z.record(z.string(), z.strictObject({ vkeys: vkeysSchema, checkpoint: z.string() }));

/** The logs by origin. */
export type KnownLogs = Map<string, z.infer<typeof knownLogSchema>>;

/** `logs.json` in the folder of the configuration file. */
export function knownLogsPath(options: Pick<GlobalOptions, 'config'>, environment = process.env): string {
  return join(dirname(options.config ?? configPath(environment)), 'logs.json');
}

/** @throws CommandError if other users may change the file, or its content is damaged */
export function readKnownLogs(path: string): KnownLogs {
  const text = readSecret(path);
  if (text === null) return new Map();
  const parsed = fileSchema.safeParse(byOrigin(jsonOf(text)));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new CommandError(
    'usage',
    `${path} is not as this program writes it, or base URLs with the same log have different keys there.`,
    'Remove it to forget which checkpoints were seen. Then a log that was changed before is not noticed.',
  );
}

/**
 * Earlier, the file had the keys and the checkpoint of each base URL. Anybody can use the same origin for another log. So two
 * base URLs have the same log only if they have a common key.
 */
function byOrigin(file: unknown): unknown {
  const urls = fileOfUrlsSchema.safeParse(file);
  if (!urls.success) return file;
  const logs: KnownLogs = new Map();
  for (const [url, { vkeys, checkpoint }] of Object.entries(urls.data)) {
    const origin = originOf(checkpoint);
    const { vkeys: others = vkeys, checkpoints = {} } = logs.get(origin) ?? {};
    const isSameLog = others.some((vkey) => vkeys.includes(vkey));
    const all = isSameLog ? [...new Set([...others, ...vkeys])] : [];
    logs.set(origin, { vkeys: all, checkpoints: { ...checkpoints, [url]: checkpoint } });
  }
  return Object.fromEntries(logs);
}

/** The log that was seen at this base URL. */
export function knownLogAt(logs: KnownLogs, url: string): z.infer<typeof knownLogSchema> | undefined {
  return [...logs.values()].find(({ checkpoints }) => url in checkpoints);
}

/** A log without another base URL is removed. */
export function forgetUrl(logs: KnownLogs, url: string): void {
  for (const [origin, { checkpoints }] of logs) {
    delete checkpoints[url];
    if (Object.keys(checkpoints).length === 0) logs.delete(origin);
  }
}

/** The origin that a signed checkpoint names. @throws LogFaultError for any other text */
export function originOf(checkpoint: string): string {
  return parseCheckpoint(parseNote(checkpoint).text).origin;
}

/**
 * Replaces the keys of the log that the checkpoint names, and the log that was seen at this base URL. The whole file is
 * replaced, so that a crash leaves either the old file or the new one.
 */
export function rememberLog(path: string, url: string, vkeys: readonly string[], checkpoint: string): void {
  const logs = readKnownLogs(path);
  forgetUrl(logs, url);
  const origin = originOf(checkpoint);
  logs.set(origin, { vkeys: [...vkeys], checkpoints: { ...logs.get(origin)?.checkpoints, [url]: checkpoint } });
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
