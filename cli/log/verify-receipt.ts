/** `tidemark receipt verify`: needs only a file and a key. */
import { readFileSync } from 'node:fs';
import { openReceipt } from '../../clients/typescript/receipts.ts';
import { LogVerificationError } from '../../clients/typescript/signed-log.ts';
import type { ObservationEntry } from '../../contract/log/entries.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { nameOfKey } from '../../contract/log/notes.ts';
import { parseEntry } from '../../contract/log/parse-entry.ts';
import { decimalText } from '../../contract/values/money/decimal-text.ts';
import { CommandError } from '../program/exit-codes.ts';
import { printFields, printJson } from '../program/output.ts';
import { remarkOn } from '../reads/markets.ts';
import { knownLogsOf, knownLogsPath, originOf } from './known-logs.ts';
import type { ReceiptFlags } from './receipt-flags.ts';

/** Ends with `findings` if the receipt proves nothing. */
export async function verifyReceipt(file: string, options: ReceiptFlags): Promise<void> {
  const { entry, index, size, origin, key, keyFrom } = await proven(file, options);
  if (options.json) return await printJson({ entry, index, size, origin, key, keyFrom });
  const { market, metric, observedAt, recordedAt, sourceLabel, sourceUrl, status, revision } = entry;
  // Without it, an announced value would look like a price. A later version is another entry.
  const remark = remarkOn({ ...entry, supersededBy: null });
  await printFields([
    ['proven', `entry ${index} of ${size} of ${origin}`],
    ['signed by', `${nameOfKey(key)}, ${keyFrom === null ? 'as given by --log-key' : `learned from ${keyFrom}`}`],
    ['market', market],
    ['metric', metric],
    ['value', shownValue(entry)],
    ...(isAmount(entry)
      ? [['quantity', `not in this receipt: the market entry of ${market} in the log has it`] as const]
      : []),
    ['status', remark === '' ? status : `${status}, ${remark}`],
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

async function proven(file: string, options: ReceiptFlags) {
  const receipt = textOf(file);
  try {
    // Used only to find the right keys. It is proven later, by the signature.
    const origin = originOf(receipt.slice(receipt.indexOf('\n\n') + 2));
    const { vkeys, keyFrom } = keysOfLog(origin, options);
    const { text, index, checkpoint } = await openReceipt(receipt, vkeys);
    const entry = parseEntry(text);
    if (entry.type !== 'observation') throw new LogFaultError(`the entry is a ${entry.type}, not a value`);
    return { entry, index, size: checkpoint.size, origin, key: checkpoint.vkey, keyFrom };
  } catch (cause) {
    if (!(cause instanceof LogFaultError || cause instanceof LogVerificationError)) throw cause;
    throw new CommandError('findings', `The receipt ${file} proves nothing: ${cause.message}.`, WHAT_TO_CHECK, {
      cause,
    });
  }
}

/**
 * Keys that were given, or that this user has stored for a log of this origin. Anybody can use the same origin for another log.
 * So a stored key counts only if it was found at every base URL of the origin.
 */
function keysOfLog(origin: string, { logKey, ...options }: ReceiptFlags) {
  if (logKey !== undefined) return { vkeys: logKey, keyFrom: null };
  const logs = knownLogsOf(origin, knownLogsPath(options));
  if (logs.size === 0) {
    const hint =
      `${GIVE_KEY} It begins with ${origin}+.\n` +
      'Or check the service once, which remembers the key that is shown there:\n' +
      '  tidemark verify URL --log';
    throw new CommandError('usage', `No key of the log ${origin} is known.`, hint);
  }
  const all = [...logs.values()];
  const vkeys = (all[0] ?? []).filter((vkey) => all.every((known) => known.includes(vkey)));
  if (vkeys.length > 0) return { vkeys, keyFrom: [...logs.keys()].join(' and ') };
  const found = [...logs].map(([url, known]) => `${url}: ${known.map(nameOfKey).join(', ')}`);
  throw new CommandError(
    'usage',
    `Base URLs with a log ${origin} have different keys, so none is trusted:\n${found.join('\n')}`,
    GIVE_KEY,
  );
}

const WHAT_TO_CHECK =
  'Check that the file is as `tidemark receipt` has written it, and that the keys are those of its log: --log-key KEY.';

const GIVE_KEY =
  'Give the key with --log-key KEY. Its operator states it, and the service shows it at URL/api/v1/log/vkey: compare both.';

const isAmount = ({ kind, unknownReason }: ObservationEntry): boolean => kind === 'money' && unknownReason === null;

/** An entry has no quantity, so an amount never stands alone: it may buy 10,000 JPY. */
function shownValue(entry: ObservationEntry): string {
  if (entry.unknownReason !== null) return `unknown: ${entry.unknownReason}`;
  if (entry.kind === 'scalar') return `${entry.value} ${entry.unit}`;
  const { amountMinor, currency, minorDigits } = entry;
  const amount = amountMinor as number;
  return `${decimalText(String(Math.abs(amount)), minorDigits, amount < 0)} ${currency} for the quantity that the market quotes`;
}
