/**
 * The bytes of the log, frozen: golden files of every entry type, tile, note, checkpoint and proof. Logs that are
 * published have them, so a difference here is a new format, never a new golden file.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openReceipt, receiptOf } from '../../../clients/typescript/receipts.ts';
import { importLogKey, LogVerificationError, SignedLog } from '../../../clients/typescript/signed-log.ts';
import { checkpointText, openCheckpoint, parseCheckpoint } from '../../../contract/log/checkpoint.ts';
import { entryText, type LogEntry, logEntrySchema, observationEntry } from '../../../contract/log/entries.ts';
import {
  decodeEntryBundle,
  ENTRY_BYTES_MAX,
  encodeEntryBundle,
  takenDownHash,
  takenDownLine,
} from '../../../contract/log/entry-bundle.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { EMPTY_ROOT, leafHash } from '../../../contract/log/merkle.ts';
import { signNote, verifierKey } from '../../../contract/log/notes.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { marketDefinitionFields } from '../../../contract/values/market.ts';
import type { Observation } from '../../../contract/values/metric.ts';
import {
  growLog,
  LATER_ENTRIES,
  type LogFiles,
  NEXT_SIGNER,
  ORIGIN,
  SAMPLE_ENTRIES,
  SAMPLE_REASONED,
  SAMPLE_SERVICE,
  SAMPLE_TAKEDOWN,
  SIGNER,
} from './sample-log.ts';

const GOLDEN = new URL('golden/', import.meta.url);

/** The sample, and so many further entries that a tile is full. */
const texts = [...SAMPLE_ENTRIES.map(entryText), ...Array.from({ length: 250 }, (_, index) => `entry ${index}`)];
const SAMPLES = SAMPLE_ENTRIES.length;
const PROVEN = 8;

const files: LogFiles = new Map();
let proof: string;

beforeAll(async () => {
  await growLog(files, 0, texts.slice(0, SAMPLES));
  files.set(`checkpoint-of-${SAMPLES}`, files.get('checkpoint') as Buffer);
  const root = await growLog(files, SAMPLES, texts);
  const checkpoint = await signNote(checkpointText({ origin: ORIGIN, size: texts.length, root }), [
    NEXT_SIGNER,
    SIGNER,
  ]);
  files.set('checkpoint-of-two-keys', Buffer.from(checkpoint));
  const read = async (path: string) =>
    new Uint8Array(path === 'checkpoint' ? Buffer.from(checkpoint) : (files.get(path) as Buffer));
  const log = await SignedLog.open(read, [await importLogKey(SIGNER.vkey)]);
  proof = await receiptOf(log, { entry: {}, index: PROVEN, text: texts[PROVEN] as string });
  files.set('entry-8.tlog-proof', Buffer.from(proof));
  for (const [file, entry] of LATER_ENTRIES) files.set(file, Buffer.from(entryText(entry)));
  files.set('vkey', Buffer.from(`${NEXT_SIGNER.vkey}\n${SIGNER.vkey}\n`));
});

test('every file of a small log is as it was', () => {
  for (const [path, bytes] of files) {
    const golden = new URL(path, GOLDEN);
    // A missing file is written, so that a new kind of file can be added. A file that is there is never changed.
    if (!existsSync(golden) && process.env.UPDATE_GOLDEN === '1') {
      mkdirSync(dirname(golden.pathname), { recursive: true });
      writeFileSync(golden, bytes);
    }
    expect(bytes.equals(readFileSync(golden)), path).toBe(true);
  }
});

describe('entries', () => {
  test('of every type and kind are in the sample', () => {
    const types = new Set([...SAMPLE_ENTRIES, ...LATER_ENTRIES.map(([, entry]) => entry)].map(({ type }) => type));
    expect(types.size).toBe(logEntrySchema.def.options.length);
  });

  test.each(
    [...SAMPLE_ENTRIES, ...LATER_ENTRIES.map(([, entry]) => entry)].map(
      (entry, index) => [entry.type, index, entry] as const,
    ),
  )('a %s (%i) can be read back', (_, __, entry) => {
    expect(parseEntry(entryText(entry))).toEqual(entry);
  });

  test('of observations leave out the links to later versions', () => {
    const { format, type, market, revision, minorDigits, ...facts } = SAMPLE_ENTRIES[PROVEN] as Extract<
      LogEntry,
      { kind: 'money'; type: 'observation' }
    >;
    const stored = { ...facts, supersededAt: '2026-09-29T07:00:00Z', supersededBy: 'obs_89abcdef0123456789abcdef' };
    // Also a member that the ledger alone has.
    expect(observationEntry(market, revision, { ...stored, firstRevision: 1 } as Observation)).toEqual(
      SAMPLE_ENTRIES[PROVEN],
    );
    const { amountMinor, currency, ...common } = stored;
    const scalar = observationEntry(market, revision, { ...common, kind: 'scalar', value: '1', unit: 'percent' });
    expect(parseEntry(entryText(scalar))).toMatchObject({ kind: 'scalar', value: '1', unit: 'percent' });
    expect(() => observationEntry(market, revision, { ...stored, currency: 'XAU' })).toThrow(RangeError);
  });

  test('have at most 65,535 bytes, counted in UTF-8', () => {
    const entry = (name: string) => ({ ...(SAMPLE_ENTRIES[2] as object), name }) as LogEntry;
    const rest = Buffer.byteLength(entryText(entry('')));
    expect(Buffer.byteLength(entryText(entry('a'.repeat(ENTRY_BYTES_MAX - rest))))).toBe(ENTRY_BYTES_MAX);
    expect(() => entryText(entry('a'.repeat(ENTRY_BYTES_MAX - rest + 1)))).toThrow(RangeError);
    expect(() => entryText(entry('ż'.repeat((ENTRY_BYTES_MAX - rest) / 2 + 1)))).toThrow(RangeError);
  });

  test('may hold texts that are refused where texts are taken in: those rules change, and the log stays', () => {
    const refused = [' Gold ', '', 'gold@owner.example', 'two\u2028lines\n', 'x'.repeat(1000)];
    for (const name of refused) {
      expect(marketDefinitionFields.name.safeParse(name).data).not.toBe(name);
      const entry = { ...(SAMPLE_ENTRIES[2] as object), name, kind: name } as LogEntry;
      expect(parseEntry(entryText(entry))).toEqual(entry);
    }
  });

  const market = () => texts[2] as string;
  /** As the service writes it: only digits with an exponent take the second format. */
  const observed = (sourceValue: string) => {
    const { market: slug, revision, ...facts } = SAMPLE_ENTRIES[PROVEN] as Extract<LogEntry, { kind: 'money' }>;
    return entryText(observationEntry(slug, revision, { ...facts, sourceValue } as unknown as Observation));
  };
  test('an exponent in the digits of the source needs the second format', () => {
    expect(parseEntry(observed('1.6e-05'))).toMatchObject({ format: 2, sourceValue: '1.6e-05' });
    expect(parseEntry(observed('0.000016'))).toMatchObject({ format: 1, sourceValue: '0.000016' });
  });

  test.each([
    ['no JSON', () => '{'],
    ['another JSON value', () => 'null'],
    ['white space', () => `${market()} `],
    ['a line break', () => `${market()}\n`],
    ['members in another order', () => JSON.stringify(SAMPLE_ENTRIES[2])],
    ['an escape that canonical JSON does not write', () => market().replace('Gold', '\\u0047old')],
    ['a member twice', () => market().replace('"format":1', '"format":1,"format":1')],
    ['a later format', () => market().replace('"format":1', '"format":3')],
    ['a format without its members', () => market().replace('"format":1', '"format":2')],
    ['a type of a later format', () => entryText(SAMPLE_SERVICE).replace('"format":2', '"format":1')],
    ['an exponent in format 1', () => observed('1.6e-05').replace('"format":2', '"format":1')],
    ['the format of an exponent without one', () => observed('0.000016').replace('"format":1', '"format":2')],
    ['a reason for the public in format 1', () => entryText(SAMPLE_REASONED).replace('"format":2', '"format":1')],
    ['no format', () => market().replace('"format":1,', '')],
    ['an unknown type', () => market().replace('"type":"market"', '"type":"other"')],
    ['a further member', () => market().replace('"kind"', '"actor":"a","kind"')],
    ['a missing member', () => market().replace('"revision":1,', '')],
    ['half of a surrogate pair', () => market().replace('Gold', '\\ud800')],
    ['a name that every object has', () => market().replace('"kind"', '"__proto__":{},"kind"')],
    ['an instant with an offset', () => market().replace('06:00:00Z', '06:00:00+00:00')],
    ['a takedown from no index', () => entryText(SAMPLE_TAKEDOWN).replace('3', '-1')],
    ['a tombstone', () => takenDownLine(leafHash(market()))],
  ])('with %s are refused', (_, text) => {
    expect(() => parseEntry(text())).toThrow(LogFaultError);
  });
});

describe('bundles', () => {
  test('give back what they hold, also empty entries and the longest', () => {
    const entries = ['', 'ż', 'x'.repeat(ENTRY_BYTES_MAX)].map((text) => Buffer.from(text));
    expect(decodeEntryBundle(encodeEntryBundle(entries))).toEqual(entries);
    expect(decodeEntryBundle(Buffer.alloc(0))).toEqual([]);
    expect(() => encodeEntryBundle(['x'.repeat(ENTRY_BYTES_MAX + 1)])).toThrow(RangeError);
  });

  test('that end within an entry are refused, wherever they end', () => {
    const bundle = encodeEntryBundle(['ab']);
    for (const end of [1, 2, 3]) expect(() => decodeEntryBundle(bundle.subarray(0, end))).toThrow(LogFaultError);
  });

  test('have a tombstone for an entry that was taken down, which no entry can look like', () => {
    const leaf = leafHash('gone');
    expect(takenDownHash(takenDownLine(leaf))).toEqual(leaf);
    expect(texts.slice(0, SAMPLES).map(takenDownHash)).toEqual(Array(SAMPLES).fill(null));
    for (const line of ['', '{"takenDown":""}', `${takenDownLine(leaf)} `, takenDownLine(leaf.subarray(1))]) {
      expect(takenDownHash(line)).toBeNull();
    }
  });
});

describe('checkpoints', () => {
  const keys = [verifierKey(SIGNER.vkey)];

  test('give back origin, size and root', async () => {
    const checkpoint = openCheckpoint(String(files.get('checkpoint')), keys);
    expect(checkpoint).toMatchObject({ origin: ORIGIN, size: texts.length });
    expect(parseCheckpoint(checkpointText(checkpoint))).toEqual(checkpoint);
    expect(parseCheckpoint(checkpointText({ origin: 'a', size: 0, root: EMPTY_ROOT })).size).toBe(0);
    expect(parseCheckpoint(`${checkpointText(checkpoint)}further line\n`)).toEqual(checkpoint);
  });

  test('count only for the origin that is the name of a key', async () => {
    const note = await signNote(checkpointText({ origin: 'other.example', size: 0, root: EMPTY_ROOT }), [SIGNER]);
    expect(() => openCheckpoint(note, keys)).toThrow(LogFaultError);
  });

  const root = EMPTY_ROOT.toString('base64');
  test.each([
    ...['', '\n', 'a\n', 'a\n1\n', `\n1\n${root}\n`, `a\n1\n${root}`, `a\n01\n${root}\n`, `a\n-1\n${root}\n`],
    ...[`a\n1e3\n${root}\n`, `a\n 1\n${root}\n`, `a\n9007199254740992\n${root}\n`, `a\n1\n${root}=\n`],
    ...[`a\n1\n${root.slice(4)}\n`, `a\n1\n${root}\n\n`, `a\n1\n${root}\n\nx\n`, `a\n1\n${root} \n`],
  ])('%j is refused', (text) => {
    expect(() => parseCheckpoint(text)).toThrow(LogFaultError);
  });
});

describe('proofs as text', () => {
  test('can be verified with the text alone', async () => {
    expect(await openReceipt(proof, [SIGNER.vkey])).toMatchObject({ index: PROVEN, text: texts[PROVEN] });
  });

  const changed = (from: string | RegExp, to: string) => () => proof.replace(from, to);
  test.each([
    ['nothing', () => ''],
    ['another first line', changed('@v1', '@v2')],
    ['no checkpoint', () => proof.slice(0, proof.indexOf('\n\n') + 1)],
    ['no index', changed(/index.*\n/, '')],
    ['an index with a zero before it', changed('index 8', 'index 08')],
    ['an index that is no number', changed('index 8', 'index -8')],
    ['an index beyond all numbers', changed('index 8', 'index 9007199254740993')],
    ['extra data that is no base64', changed('extra ', 'extra *')],
    ['extra data twice', changed(/(extra .*\n)/, '$1$1')],
    ['a short hash', changed(/(index 8\n)..../, '$1')],
    ['a carriage return', changed('index 8', 'index 8\r')],
    ['54 hashes', changed(/(index 8\n)/, `$1${`${EMPTY_ROOT.toString('base64')}\n`.repeat(54)}`)],
  ])('with %s are refused', async (_, text) => {
    await expect(openReceipt(text(), [SIGNER.vkey])).rejects.toThrow(LogVerificationError);
  });
});
