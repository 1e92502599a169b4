/** The keys of the log in a data folder: made once, kept, rotated, and never replaced silently. */
import { chmodSync, cpSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { checkpointText } from '../../contract/log/checkpoint.ts';
import { EMPTY_ROOT } from '../../contract/log/merkle.ts';
import { type NoteSigner, signNote } from '../../contract/log/notes.ts';
import { isLogOrigin } from '../../contract/log/origin.ts';
import { endLogRotation, replaceLostLogKey, rotateLogKey, showLogKeys } from '../../server/commands/log-keys.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { StartError } from '../../server/service/start-error.ts';
import { keepLogKeys, newLogKey, readLogKeys } from '../../server/settings/log-key.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';

const { randomBytes } = systemRuntime;
const ORIGIN = 'data.example.com/prices';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
});

const keep = (origin: string | null = null, checkpoint: string | null = null) =>
  keepLogKeys({ folder, origin, checkpoint, randomBytes });
const signed = (signers: readonly NoteSigner[], origin = ORIGIN) =>
  signNote(checkpointText({ origin, size: 0, root: EMPTY_ROOT }), signers);
const file = (name: 'log-key' | 'log-key-previous') => join(folder, name);

describe('the key', () => {
  test('is made once, for its owner only, and then read', () => {
    const made = keep(ORIGIN);
    expect(made).toMatchObject({ origin: ORIGIN, isNew: true });
    expect(statSync(file('log-key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(file('log-key'), 'utf8')).toMatch(
      /^PRIVATE\+KEY\+data\.example\.com\/prices\+[0-9a-f]{8}\+\S{44}\n$/,
    );
    for (const origin of [null, ORIGIN]) {
      const kept = keep(origin);
      expect(kept.isNew).toBe(false);
      expect(kept.signers.map(({ vkey }) => vkey)).toEqual(made.signers.map(({ vkey }) => vkey));
    }
  });

  test('of a log without a configured name gets a random one', () => {
    const { origin } = keep();
    expect(origin).toMatch(/^tidemark\.local\/[0-9a-f]{8}$/);
    expect(isLogOrigin(origin)).toBe(true);
  });

  test('has signed the published log, alone or with others', async () => {
    const { signers } = keep(ORIGIN);
    expect(keep(null, await signed(signers)).isNew).toBe(false);
    // A witness signs under its own name.
    const witness = keepLogKeys({
      folder: await temporaryFolder(),
      origin: 'w.example',
      checkpoint: null,
      randomBytes,
    });
    expect(keep(null, await signed([...witness.signers, ...signers])).isNew).toBe(false);
  });

  test.each(['', 'no checkpoint', `${ORIGIN}\n1\n`])('%j as the published log is for the publisher to mend', (text) => {
    const { signers } = keep(ORIGIN);
    expect(keep(null, text).signers[0].vkey).toBe(signers[0].vkey);
  });
});

describe('a start is refused, and nothing is changed,', () => {
  const refused = (run: () => unknown) => {
    const before = existsSync(file('log-key')) ? readFileSync(file('log-key'), 'utf8') : null;
    expect(run).toThrow(StartError);
    expect(existsSync(file('log-key')) ? readFileSync(file('log-key'), 'utf8') : null).toBe(before);
  };

  test('if the key of a published log is missing', async () => {
    const checkpoint = await signed(keep(ORIGIN).signers);
    renameSync(file('log-key'), join(folder, 'elsewhere'));
    refused(() => keep(null, checkpoint));
    expect(existsSync(file('log-key'))).toBe(false);
  });

  test('if the key is of a log of another name, or is another key of the same name', async () => {
    const other = keepLogKeys({ folder: await temporaryFolder(), origin: ORIGIN, checkpoint: null, randomBytes });
    keep(ORIGIN);
    const checkpoints = [await signed(other.signers), await signed(keep().signers, 'other.example')];
    for (const checkpoint of checkpoints) refused(() => keep(null, checkpoint));
  });

  test('if another name is configured', () => {
    keep(ORIGIN);
    refused(() => keep('other.example'));
  });

  test.each([0o640, 0o604, 0o644, 0o660])('if the mode of the key is %o', (mode) => {
    keep(ORIGIN);
    chmodSync(file('log-key'), mode);
    refused(() => keep());
  });

  test.each(['', '\n', 'PRIVATE+KEY+', 'operator', `PRIVATE+KEY+${ORIGIN}+00000000+AQ==`])('if it holds %j', (text) => {
    writeFileSync(file('log-key'), text, { mode: 0o600 });
    refused(() => keep());
  });

  test('if its last letter is gone', () => {
    writeFileSync(file('log-key'), newLogKey(ORIGIN, randomBytes).slice(0, -1), { mode: 0o600 });
    refused(() => keep());
  });

  test('if the previous key is of another log', () => {
    keep(ORIGIN);
    writeFileSync(file('log-key-previous'), newLogKey('other.example', randomBytes), { mode: 0o600 });
    refused(() => keep());
  });
});

describe('the command', () => {
  let output = '';

  /** Runs a command on the folder of a stopped server that shows this checkpoint. Returns how it ended. */
  async function run(command: (environment: Record<string, string>) => Promise<void>, checkpoint: string | null) {
    const data = await openDataFolder(folder);
    const key = 'public/api/v1/log/checkpoint';
    const present = await data.objects.stat(key);
    if (present !== null) await data.objects.delete(key, present.etag);
    const metadata = { contentType: 'text/plain', cacheControl: '', cacheTag: null, generation: 1, nextCursor: null };
    if (checkpoint !== null) await data.objects.put(key, Buffer.from(checkpoint), metadata, { kind: 'absent' });
    data.close();
    output = '';
    const out = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      output += text;
      return true;
    });
    return await command({ TIDEMARK_DATA: folder })
      .then(
        () => 'done',
        (error: unknown) => {
          if (!(error instanceof StartError)) throw error;
          output += error.message;
          return 'refused';
        },
      )
      .finally(() => out.mockRestore());
  }

  test('rotate makes the next key, both sign until the end, and the end waits for the publication', async () => {
    const [old] = keep(ORIGIN).signers;
    const before = await signed([old]);
    expect(await run(rotateLogKey, before)).toBe('done');
    const both = keep(null, before).signers;
    expect(both.map(({ name }) => name)).toEqual([ORIGIN, ORIGIN]);
    expect(both[1]?.vkey).toBe(old.vkey);
    expect(output).toContain(both[0].vkey);
    expect(output).not.toContain('PRIVATE');
    for (const name of ['log-key', 'log-key-previous'] as const) expect(statSync(file(name)).mode & 0o777).toBe(0o600);
    // No second rotation, and no end, before the published log has the new signature.
    expect(await run(rotateLogKey, before)).toBe('refused');
    expect(await run(endLogRotation, before)).toBe('refused');
    expect(readLogKeys(folder)).toHaveLength(2);
    const after = await signed(both);
    expect(keep(null, after).warning).toBeNull();
    // A restore from before the rotation: the start goes on with the former key, and says so.
    const restored = { origin: null, checkpoint: after, randomBytes, given: null };
    const former = await temporaryFolder();
    cpSync(file('log-key-previous'), join(former, 'log-key'));
    expect(keepLogKeys({ ...restored, folder: former }).warning).toContain('replaced-');
    expect(await run(endLogRotation, after)).toBe('done');
    expect(keep(null, after)).toMatchObject({ signers: [{ vkey: both[0].vkey }], warning: null });
    expect(await run(endLogRotation, after)).toBe('refused');
    expect(await run(showLogKeys, after)).toBe('done');
    expect(output).toContain(both[0].vkey);
  });

  test('rotate goes on after a crash between its two steps', async () => {
    const [old] = keep(ORIGIN).signers;
    writeFileSync(file('log-key-previous'), readFileSync(file('log-key')), { mode: 0o600 });
    expect(keep().signers).toHaveLength(1);
    expect(await run(rotateLogKey, await signed([old]))).toBe('done');
    expect(keep().signers.map(({ vkey }) => vkey)[1]).toBe(old.vkey);
  });

  test('replace-lost-key works only when the key is gone', async () => {
    const [old] = keep(ORIGIN).signers;
    const checkpoint = await signed([old]);
    expect(await run(replaceLostLogKey, checkpoint)).toBe('refused');
    expect(await run(replaceLostLogKey, null)).toBe('refused');
    renameSync(file('log-key'), join(folder, 'elsewhere'));
    expect(await run(replaceLostLogKey, null)).toBe('refused');
    expect(await run(replaceLostLogKey, checkpoint)).toBe('done');
    const [made] = readLogKeys(folder) ?? [];
    expect(made).toMatchObject({ name: ORIGIN });
    expect(made?.vkey).not.toBe(old.vkey);
    // The next start takes it, although another key has signed the published log; but not for the log of a third key.
    expect(keep(null, checkpoint).signers[0].vkey).toBe(made?.vkey);
    const third = keepLogKeys({ folder: await temporaryFolder(), origin: ORIGIN, checkpoint: null, randomBytes });
    const checkpointOfThird = await signed(third.signers);
    expect(() => keep(null, checkpointOfThird)).toThrow(StartError);
  });

  test('a folder without a log is refused, and gets no key', async () => {
    for (const command of [showLogKeys, rotateLogKey, endLogRotation]) expect(await run(command, null)).toBe('refused');
    expect(readLogKeys(folder)).toBeNull();
  });
});
