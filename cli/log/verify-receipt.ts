/** `tidemark receipt verify`: from a file and a key alone. */
import { readFileSync } from 'node:fs';
import { openCheckpoint, parseCheckpoint } from '../../contract/log/checkpoint.ts';
import type { ObservationEntry } from '../../contract/log/entries.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { leafHash } from '../../contract/log/merkle.ts';
import { parseNote, verifierKey } from '../../contract/log/notes.ts';
import { parseEntry } from '../../contract/log/parse-entry.ts';
import { verifyInclusion } from '../../contract/log/proofs.ts';
import { parseTlogProof } from '../../contract/log/tlog-proof.ts';
import { CommandError } from '../exit-codes.ts';
import { printFields, printJson } from '../output.ts';
import { knownLogsPath, readKnownLogs } from './known-logs.ts';
import type { ReceiptFlags } from './receipt-flags.ts';

/** Ends with `findings` if the receipt proves nothing. */
export async function verifyReceipt(file: string, options: ReceiptFlags): Promise<void> {
  const { entry, index, size, origin } = proven(textOf(file), options);
  if (options.json) return await printJson({ entry, index, size, origin });
  const { market, metric, observedAt, recordedAt, sourceLabel, sourceUrl, revision } = entry;
  await printFields([
    ['proven', `entry ${index} of ${size} of ${origin}`],
    ['market', market],
    ['metric', metric],
    ['value', shownValue(entry)],
    ['observed', observedAt],
    ['recorded', recordedAt],
    ['source', `${sourceLabel}, ${sourceUrl}`],
    ['revision', revision],
    ...(entry.supersedes === null ? [] : [['corrects', entry.supersedes] as const]),
  ]);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CommandError('usage', `${file} cannot be read: ${(cause as Error).message}`, null, { cause });
  }
}

function proven(text: string, options: ReceiptFlags) {
  try {
    const { extra, index, proof, checkpoint } = parseTlogProof(text);
    if (extra === null) throw new LogFaultError('the receipt has no entry');
    // Only to know whose keys are needed. It counts when its signature does.
    const { origin } = parseCheckpoint(parseNote(checkpoint).text);
    const { size, root } = openCheckpoint(checkpoint, keysOfLog(origin, options));
    if (!verifyInclusion({ size, root, index, leaf: leafHash(extra), proof })) {
      throw new LogFaultError('the entry is not the one that the checkpoint has at this place');
    }
    const entry = parseEntry(extra.toString('utf8'));
    if (entry.type !== 'observation') throw new LogFaultError(`the entry is a ${entry.type}, and no value`);
    return { entry, index, size, origin };
  } catch (cause) {
    if (!(cause instanceof LogFaultError)) throw cause;
    throw new CommandError('findings', `The receipt proves nothing: ${cause.message}.`, null, { cause });
  }
}

/** Keys that were given, or that this user has remembered for a log of this name. */
function keysOfLog(origin: string, options: ReceiptFlags) {
  if (options.logKey !== undefined) return options.logKey.map(verifierKey);
  const known = [...readKnownLogs(knownLogsPath(options)).values()].flatMap(({ vkeys }) => vkeys.map(verifierKey));
  const keys = known.filter(({ name }) => name === origin);
  if (keys.length > 0) return keys;
  throw new CommandError(
    'usage',
    `No key of the log ${origin} is known.`,
    'Give the key of its operator with --log-key.',
  );
}

function shownValue(entry: ObservationEntry): string {
  if (entry.unknownReason !== null) return `unknown: ${entry.unknownReason}`;
  if (entry.kind === 'scalar') return `${entry.value} ${entry.unit}`;
  const { amountMinor, currency, minorDigits } = entry;
  const digits = String(Math.abs(amountMinor as number)).padStart(minorDigits + 1, '0');
  const sign = (amountMinor as number) < 0 ? '-' : '';
  const split = digits.length - minorDigits;
  return `${sign}${digits.slice(0, split)}${minorDigits > 0 ? '.' : ''}${digits.slice(split)} ${currency}`;
}
