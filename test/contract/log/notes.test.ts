/** Signed notes: published examples, and what must be refused. */
import { describe, expect, test } from 'vitest';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import {
  ed25519Signer,
  openNote,
  parseNote,
  parseVkey,
  privateNoteKey,
  signNote,
  verifierKey,
} from '../../../contract/log/notes.ts';
import { NEXT_SIGNER, SIGNER } from './sample-log.ts';

/** Facts from C2SP's signed-note and from the documentation of Go's package `note`. */
const PUBLISHED = [
  {
    vkey: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    text: 'This is an example message.\n',
    line: '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
  },
  {
    vkey: 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    text: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
    line: '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
  },
] as const;
const GO_PRIVATE_KEY = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';

const TEXT = 'first line\n\nafter an empty line\n';
const KEY = verifierKey(SIGNER.vkey);

describe('published notes', () => {
  test.each(PUBLISHED)('of $vkey can be opened', ({ vkey, text, line }) => {
    expect(openNote(`${text}\n${line}`, [verifierKey(vkey)]).text).toBe(text);
  });

  test('are signed with the same bytes, and the private key is written in the same way', async () => {
    const [, { vkey, text, line }] = PUBLISHED;
    const signer = ed25519Signer(GO_PRIVATE_KEY);
    expect(signer.vkey).toBe(vkey);
    expect(await signNote(text, [signer])).toBe(`${text}\n${line}`);
    const seed = Buffer.from(GO_PRIVATE_KEY.split('+').slice(4).join('+'), 'base64').subarray(1);
    expect(privateNoteKey('PeterNeumann', seed)).toBe(GO_PRIVATE_KEY);
  });
});

describe('a note', () => {
  test('says which of the known keys have signed it; their order is that of the signatures', async () => {
    const note = await signNote(TEXT, [NEXT_SIGNER, SIGNER]);
    const next = verifierKey(NEXT_SIGNER.vkey);
    expect(openNote(note, [KEY])).toEqual({ text: TEXT, signedBy: [KEY] });
    expect(openNote(note, [KEY, next])).toEqual({ text: TEXT, signedBy: [next, KEY] });
  });

  test('may have signatures of unknown keys, of any type, also with the name or the id of a known one', async () => {
    const [, line] = (await signNote(TEXT, [SIGNER])).split('\n\n— ');
    const sameName = `— ${SIGNER.name} ${Buffer.alloc(77, 1).toString('base64')}\n`;
    const sameId = `— other.example ${line?.split(' ')[1]}`;
    const note = `${TEXT}\n${sameName}${sameId}${(await signNote(TEXT, [SIGNER])).slice(TEXT.length + 1)}`;
    expect(openNote(note, [KEY]).signedBy).toEqual([KEY]);
    expect(parseNote(note).signatures.map(({ name }) => name)).toEqual([SIGNER.name, 'other.example', SIGNER.name]);
  });

  test('is refused after any change of a byte', async () => {
    const note = Buffer.from(await signNote('a\n', [SIGNER]));
    for (let at = 0; at < note.length; at++) {
      const changed = Buffer.from(note);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => openNote(changed.toString('utf8'), [KEY]), `byte ${at}`).toThrow(LogFaultError);
    }
  });

  test.each([
    ['nothing', ''],
    ['no signature', 'text\n'],
    ['an empty line at its end', 'text\n\n'],
    ['no newline at its end', 'text\n\n— a AAAAAAA='],
    ['a line that is no signature', 'text\n\n— a AAAAAAA=\nb\n'],
    ['a hyphen for the dash', 'text\n\n- a AAAAAAA=\n'],
    ['a signature of the length of a key id', 'text\n\n— a AAAAAA==\n'],
    ['base64 with a break', 'text\n\n— a AAAA AAA=\n'],
    ['base64 for URLs', 'text\n\n— a ____AAA=\n'],
    ['base64 without its end', 'text\n\n— a AAAAAAA\n'],
    ['bits behind the end of base64', 'text\n\n— a AAAAAAB=\n'],
    ['a name with a plus', 'text\n\n— a+b AAAAAAA=\n'],
    ['a name with a no-break space', 'text\n\n— a\u00a0b AAAAAAA=\n'],
    ['carriage returns', 'text\r\n\r\n— a AAAAAAA=\r\n'],
    ['a control character', 'te\u0000xt\n\n— a AAAAAAA=\n'],
    ['half of a surrogate pair', 'te\ud800xt\n\n— a AAAAAAA=\n'],
    ['101 signatures', `text\n\n${'— a AAAAAAA=\n'.repeat(101)}`],
  ])('with %s is malformed', (_, note) => {
    expect(() => parseNote(note)).toThrow(LogFaultError);
    expect(() => openNote(note, [KEY])).toThrow(LogFaultError);
  });

  test('with up to 100 signatures is read', () => {
    expect(parseNote(`text\n\n${'— a AAAAAAA=\n'.repeat(100)}`).signatures).toHaveLength(100);
  });

  test('that no known key has signed is refused', async () => {
    const note = await signNote(TEXT, [NEXT_SIGNER]);
    expect(() => openNote(note, [KEY])).toThrow(LogFaultError);
    expect(() => openNote(note, [])).toThrow(LogFaultError);
  });

  test('with a wrong signature of a known key is refused, even if another known key has signed it', async () => {
    const [, line = ''] = (await signNote('other\n', [SIGNER])).split('\n\n');
    const note = (await signNote(TEXT, [NEXT_SIGNER])) + line;
    expect(() => openNote(note, [KEY, verifierKey(NEXT_SIGNER.vkey)])).toThrow(LogFaultError);
  });

  test.each(['', 'no newline', 'a tab\t\n', 'a\rb\n', 'half \ud800\n'])(
    'of the text %j cannot be signed',
    async (text) => {
      await expect(signNote(text, [SIGNER])).rejects.toThrow(RangeError);
    },
  );
});

describe('keys', () => {
  test.each([
    ...['', 'a', 'a+b', 'a+00000000+', 'a+530d903a+AQ==', 'a+530D903A+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'],
    PUBLISHED[0].vkey.replace('530d903a', '530d903b'),
    PUBLISHED[0].vkey.replace('foo', 'bar'),
    `${PUBLISHED[0].vkey}\n`,
    PUBLISHED[0].vkey.slice(0, -1),
    PUBLISHED[0].vkey.replace('example.com/foo', 'example.com /foo'),
  ])('%j is no verifier key', (vkey) => {
    expect(() => verifierKey(vkey)).toThrow(LogFaultError);
  });

  test('of another type are named, and not read', () => {
    const key = Buffer.concat([Buffer.of(0xff), Buffer.from('some other key')]);
    expect(() => verifierKey(`a+b4c6b6a6+${key.toString('base64')}`)).toThrow(LogFaultError);
    expect(parseVkey(SIGNER.vkey)).toMatchObject({ type: 1, name: SIGNER.name, keyId: SIGNER.keyId });
  });

  test('private ones that are malformed are refused, and never shown', () => {
    const key = privateNoteKey('a', Buffer.alloc(32, 1));
    for (const text of ['', key.slice(1), `${key}\n`, key.replace('+a+', '+b+'), key.slice(0, -4), SIGNER.vkey]) {
      expect(() => ed25519Signer(text)).toThrow(LogFaultError);
      expect(() => ed25519Signer(text)).not.toThrow(key.slice(-20));
    }
    expect(() => privateNoteKey('with space', Buffer.alloc(32))).toThrow(RangeError);
  });
});
