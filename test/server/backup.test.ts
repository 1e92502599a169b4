/** `tidemark backup` and `tidemark restore`, as an operator types them: beside a running server, and without one. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFile,
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { backUp } from '../../server/commands/backup.ts';
import { type RestoreReport, restoreBackup } from '../../server/commands/restore.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import type { Run } from '../cli/tidemark.ts';
import { createWorld, dependenciesOn, market, price } from '../publisher/world.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { type ServerProcess, startServer, startServerForTest } from './server-process.ts';

const on = (data: string, ...words: readonly string[]): Promise<Run> => tidemark([...words, '--data', data]);

/** An error for people: one line, without a stack. */
const refusal = (...parts: readonly string[]) => ({
  code: 1,
  output: '',
  errors: expect.stringMatching(new RegExp(`^error ${parts.map((part) => `.*${part}`).join('')}.*\n$`)),
});

const names = async (dir: string) => (await readdir(dir).catch(() => [] as string[])).sort();
const isBackup = (name: string) => /^\d{4}-.*Z$/.test(name);

describe('beside a running server', () => {
  const temporary = folderForAll();
  let data: string;
  let server: ServerProcess;
  let url: string;
  let key: string;

  beforeAll(async () => {
    data = join(temporary.folder, 'data');
    server = startServer({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
    url = await server.started;
    key = (await readFile(join(data, 'operator-key'), 'utf8')).trim();
    const records = ['still', 'busy'].map((slug) => ({ ...market(slug) }));
    const file = join(temporary.folder, 'records.ndjson');
    const still = [1, 2, 3].map((minutes) => price('still', minutes, minutes));
    await writeFile(file, [...records, ...still].map((record) => JSON.stringify(record)).join('\n'));
    expect(await on(data, 'ingest', file)).toMatchObject({ code: 0 });
  });

  afterAll(() => server.end('SIGKILL'));

  test('a backup has every acknowledged write and upload; restored, it publishes the same bytes', async () => {
    const bytes = Buffer.from(`${JSON.stringify(price('busy', 5_000, 7))}\n`);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const send = senderTo(url, key);
    const { json } = await send('POST', '/api/v1/ingest/uploads', { sha256, bytes: bytes.length, records: 1 });
    const { id, put } = json as { id: string; put: { url: string; headers: Record<string, string> } };
    expect((await fetch(url + put.url, { method: 'PUT', headers: put.headers, body: bytes })).status).toBe(204);

    let acknowledged = 0;
    let isWriting = true;
    const writing = (async () => {
      for (let minute = 0; isWriting; minute += 1) {
        const { status } = await send('POST', '/api/v1/ingest/batches', { records: [price('busy', minute, 1)] });
        expect(status).toBe(202);
        acknowledged = minute + 1;
      }
    })();
    while (acknowledged < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const before = acknowledged;
    const dir = join(temporary.folder, 'backups');
    const run = await on(data, 'backup', dir, '--json');
    isWriting = false;
    await writing;
    expect([run.code, run.errors]).toEqual([0, '']);
    expect(acknowledged).toBeGreaterThan(before);
    expect(JSON.parse(run.output)).toMatchObject({ sharedFiles: 1, copiedFiles: 1, kept: [expect.any(String)] });
    expect(await readFile(join(dir, 'uploads', id))).toEqual(bytes);
    // The server removes its snapshot once the asker has hung up.
    const snapshots = async () => (await names(data)).filter((name) => name.startsWith('snapshot-'));
    await expect.poll(snapshots).toEqual([]);

    const other = join(temporary.folder, 'other');
    expect(await on(other, 'restore', dir, '--keep-keys')).toMatchObject({
      code: 0,
      output: expect.stringContaining(other),
    });
    const restored = startServerForTest({ TIDEMARK_DATA: other, TIDEMARK_SAMPLE: 'no' });
    const otherUrl = await restored.started;
    expect(await on(other, 'verify')).toMatchObject({ code: 0, output: '' });
    for (const path of ['/api/v1/markets/still', '/api/v1/markets/still/history']) {
      expect(await (await fetch(otherUrl + path)).text()).toBe(await (await fetch(url + path)).text());
    }
    // Batches that waited in the queue are taken in now; the one whose worker held a lease, half a minute later.
    await expect
      .poll(
        async () => {
          const { history } = (await (await fetch(`${otherUrl}/api/v1/markets/busy`)).json()) as {
            history: { count: number };
          };
          return history.count;
        },
        { timeout: 45_000, interval: 200 },
      )
      .toBeGreaterThanOrEqual(before + 1);
    const me = await fetch(`${otherUrl}/api/v1/me`, { headers: { authorization: `Bearer ${key}` } });
    expect(me.status).toBe(200);
  });

  test('only the owner can use the socket, and other requests on it are refused', async () => {
    const socketPath = join(data, 'control.sock');
    expect((await stat(socketPath)).mode & 0o777).toBe(0o600);
    const status = (method: string, path: string) =>
      new Promise((resolve, reject) => {
        const asking = request({ socketPath, method, path }, (answer) => resolve(answer.statusCode));
        asking.on('error', reject).end();
      });
    expect([await status('GET', '/snapshot'), await status('POST', '/')]).toEqual([404, 404]);
  });

  test('an asker who hangs up leaves nothing; while one waits, another is refused', async () => {
    const asking = request({ socketPath: join(data, 'control.sock'), method: 'POST', path: '/snapshot' });
    const named = new Promise<void>((resolve) => {
      asking.on('response', (answer) => answer.on('data', (text) => String(text).includes('"file"') && resolve()));
    });
    asking.on('error', () => {});
    asking.end();
    await named;
    const snapshots = async () => (await names(data)).filter((name) => name.startsWith('snapshot-'));
    expect(await snapshots()).toHaveLength(1);
    const dir = join(temporary.folder, 'second');
    expect(await on(data, 'backup', dir)).toEqual(refusal('Another backup'));
    asking.destroy();
    await expect.poll(snapshots).toEqual([]);
    expect(await on(data, 'backup', dir)).toMatchObject({ code: 0 });
  });

  test('a data folder with a long path is served, and says that its backup needs it stopped', async () => {
    const long = join(temporary.folder, 'x'.repeat(100), 'data');
    const other = startServerForTest({ TIDEMARK_DATA: long, TIDEMARK_SAMPLE: 'no' });
    await other.started;
    await expect.poll(other.errors).toContain('a backup needs this server stopped');
    const dir = join(temporary.folder, 'fourth');
    expect(await on(long, 'backup', dir)).toEqual(refusal('in use by process'));
    await other.end('SIGTERM');
    expect(await on(long, 'backup', dir)).toMatchObject({ code: 0 });
  });

  test('a folder that is in use is not restored', async () => {
    const dir = join(temporary.folder, 'third');
    expect(await on(data, 'backup', dir)).toMatchObject({ code: 0 });
    expect(await on(data, 'restore', dir, '--replace')).toEqual(refusal('in use by process'));
    expect(await on(data, 'verify')).toMatchObject({ code: 0 });
  });
});

describe('without a server', () => {
  let data: string;
  let dir: string;

  beforeEach(async () => {
    data = join(await temporaryFolder(), 'data');
    dir = join(await temporaryFolder(), 'backups');
    await take([market('gold'), price('gold', 0, 1)]);
    await mkdir(join(data, 'uploads'));
    await writeFile(join(data, 'secret'), 'one\n', { mode: 0o600 });
    await upload('A');
  });

  const idOf = (letter: string) => `upl_${letter.repeat(26)}`;
  const upload = (letter: string) => writeFile(join(data, 'uploads', idOf(letter)), letter.repeat(10));

  async function take(records: Parameters<ReturnType<typeof createWorld>['ingest']>[0]): Promise<void> {
    const folder = await openDataFolder(data);
    await createWorld(DEFAULT_PAGE_SIZES, folder.ledger).ingest(records);
    await publish(dependenciesOn(folder.ledger, folder.objects, { nowMs: Date.now() }, DEFAULT_PAGE_SIZES));
    folder.close();
  }

  const progress = () => {};
  const backUpInto = (target: string, { keep = 7, verify = false } = {}) =>
    backUp({ TIDEMARK_DATA: data }, { dir: target, keep, verify, progress });
  const made = (options: Parameters<typeof backUpInto>[1] = {}) => backUpInto(dir, options);
  const restored = (from: string | null = null, replace = true) =>
    restoreBackup({ TIDEMARK_DATA: data }, { dir, from, replace, keys: 'keep', progress });
  /** In the words of one line. */
  const refused = (...parts: readonly string[]) =>
    expect.objectContaining({
      name: 'StartError',
      message: expect.stringMatching(new RegExp(`^.*${parts.join('.*')}.*$`)),
    });

  test('it copies new uploads only, keeps as many backups as asked, and removes what none of them names', async () => {
    expect(await made()).toMatchObject({ copiedFiles: 1 });
    const copied = await stat(join(dir, 'uploads', idOf('A')));
    await upload('B');
    // A file that is still arriving.
    await writeFile(join(data, 'uploads', 'new.part'), 'half');
    expect(await made({ verify: true })).toMatchObject({
      copiedFiles: 1,
      kept: [expect.any(String), expect.any(String)],
    });
    expect(await stat(join(dir, 'uploads', idOf('A')))).toMatchObject({ ino: copied.ino, mtimeMs: copied.mtimeMs });
    await rm(join(data, 'uploads', idOf('A')));
    const { backup, kept } = await made({ keep: 1 });
    expect(kept).toHaveLength(1);
    expect(await names(dir)).toEqual([...kept, 'uploads']);
    expect(await names(join(dir, 'uploads'))).toEqual([idOf('B')]);
    for (const path of [dir, backup]) expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const name of await names(backup)) expect((await stat(join(backup, name))).mode & 0o777).toBe(0o600);
  });

  test('archived answers of sources are copied once, and restored', async () => {
    const path = join('archive', 'ab', 'ab'.repeat(32));
    await mkdir(join(data, 'archive', 'ab'), { recursive: true });
    await writeFile(join(data, path), 'an answer');
    await writeFile(join(data, 'archive', 'ab', 'new.part'), 'half of one');
    expect(await made()).toMatchObject({ copiedFiles: 2, sharedFiles: 2 });
    expect(await made()).toMatchObject({ copiedFiles: 0, sharedFiles: 2 });
    await rm(join(data, 'archive'), { recursive: true });
    await restored();
    expect(await readFile(join(data, path), 'utf8')).toBe('an answer');
    expect(await names(join(data, 'archive', 'ab'))).toEqual(['ab'.repeat(32)]);
  });

  test('it finishes what an interrupted backup has begun', async () => {
    await writeFile(join(data, 'snapshot-00000000-0000-0000-0000-000000000000.sqlite'), 'half');
    await mkdir(join(dir, '2026-11-22T00-00-00.000Z.partial'), { recursive: true });
    await mkdir(join(dir, 'uploads'));
    await writeFile(join(dir, 'uploads', idOf('A')), 'A'.repeat(10));
    await upload('B');
    await writeFile(join(dir, 'uploads', idOf('B')), 'BBB');
    await chmod(dir, 0o700);
    expect(await made()).toMatchObject({ copiedFiles: 2 });
    expect(await readFile(join(dir, 'uploads', idOf('B')), 'utf8')).toBe('B'.repeat(10));
    expect((await names(dir)).filter((name) => !isBackup(name))).toEqual(['uploads']);
    expect((await names(data)).filter((name) => name.startsWith('snapshot-'))).toEqual([]);
  });

  test.each<[string, () => Promise<string>, string]>([
    [
      'the folder is a file',
      async () => {
        await writeFile(dir, '');
        return dir;
      },
      'is not a folder',
    ],
    ['the folder is in the data folder', async () => join(data, 'backups'), 'in the data folder itself'],
    [
      'other people may write the folder',
      async () => {
        await mkdir(dir);
        await chmod(dir, 0o777);
        return dir;
      },
      'chmod go-w',
    ],
    [
      'the folder has backups of another service',
      async () => {
        await made();
        await writeFile(join(data, 'secret'), 'two\n');
        return dir;
      },
      'another service',
    ],
    [
      'an upload has changed since',
      async () => {
        await made();
        await appendFile(join(data, 'uploads', idOf('A')), 'more');
        return dir;
      },
      'find out which is damaged',
    ],
    [
      'the folder has a later backup: the clock was set back',
      async () => {
        const { backup } = await made();
        await rename(backup, join(dir, '2999-01-01T00-00-00.000Z'));
        return dir;
      },
      'clock',
    ],
    [
      'there is no ledger',
      async () => {
        await rm(data, { recursive: true });
        return dir;
      },
      'no ledger',
    ],
  ])('it is refused if %s', async (_, prepare, part) => {
    const target = await prepare();
    const before = await names(target);
    await expect(backUpInto(target)).rejects.toEqual(refused(part));
    expect((await names(target)).filter(isBackup)).toEqual(before.filter(isBackup));
  });

  test.each([
    ['its header is lost', 0],
    ['a page of its index is lost', 2 * 8192],
  ])('a ledger is not backed up if %s: the backup before stays, and replaces it', async (_, position) => {
    await made();
    const file = await open(join(data, 'ledger.sqlite'), 'r+');
    await file.write(Buffer.alloc(8192, 0xff), 0, 8192, position);
    await file.close();
    expect(await on(data, 'backup', dir, '--keep', '1')).toEqual(refusal('damaged'));
    expect((await names(dir)).filter(isBackup)).toHaveLength(1);
    await restored();
    await take([price('gold', 1, 2)]);
  });

  test('--verify finds a file that an earlier backup has copied, and that has rotted since', async () => {
    await made();
    await writeFile(join(dir, 'uploads', idOf('A')), `${'A'.repeat(9)}x`);
    await expect(made({ verify: true })).rejects.toEqual(refused(idOf('A')));
    await rm(join(dir, 'uploads', idOf('A')));
    expect(await made({ verify: true })).toMatchObject({ copiedFiles: 1 });
  });

  test('a restore moves what is there aside, and takes the named backup', async () => {
    const { kept } = await made();
    await take([price('gold', 1, 2)]);
    await made();
    expect(await on(data, 'restore', dir)).toEqual(refusal('--replace'));
    const run = await on(data, 'restore', dir, '--replace', '--from', kept[0] as string, '--json');
    expect([run.code, run.errors]).toEqual([0, '']);
    const { replaced, backup } = JSON.parse(run.output) as RestoreReport & { replaced: string };
    expect(backup).toBe(kept[0]);
    expect(await names(replaced)).toEqual(expect.arrayContaining(['ledger.sqlite', 'secret', 'uploads']));
    expect(await readFile(join(data, 'uploads', idOf('A')), 'utf8')).toBe('A'.repeat(10));
    const folder = await openDataFolder(data);
    const history = await folder.ledger.query('market/gold', { limit: 10 });
    folder.close();
    expect(history.items.length).toBeGreaterThan(0);
  });

  const manifestOf = async (change: (manifest: Record<string, unknown>) => unknown) => {
    const { backup } = await made();
    const path = join(backup, 'manifest.json');
    const manifest = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    await writeFile(path, JSON.stringify(change(manifest)));
  };
  const spoiled = (spoil: (backup: string) => Promise<unknown>) => async () => spoil((await made()).backup);
  /** What other users could have put in place of a path of the backup. */
  const instead = (path: (backup: string) => string, put: (path: string) => Promise<unknown>) =>
    spoiled(async (backup) => {
      await rename(path(backup), join(data, '..', 'moved'));
      await put(path(backup));
    });
  const ofBackup = (name: string) => (backup: string) => join(backup, name);
  const linkTo = (target: string) => (path: string) => symlink(target, path);
  const linkToMoved = (path: string) => symlink(join(data, '..', 'moved'), path);
  const pipe = async (path: string) => execFileSync('mkfifo', [path]);
  const widened = (mode: number, path: (backup: string) => string) => spoiled((backup) => chmod(path(backup), mode));
  const someContent = { bytes: 1, sha256: '0'.repeat(64) };

  test.each<[string, () => Promise<unknown>, string]>([
    ['there is none', async () => mkdir(dir), 'no complete backup'],
    [
      'a byte of the ledger differs',
      spoiled(async (backup) => {
        const bytes = await readFile(join(backup, 'ledger.sqlite'));
        bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000);
        await writeFile(join(backup, 'ledger.sqlite'), bytes);
      }),
      'ledger.sqlite has other bytes',
    ],
    ['the manifest is missing', spoiled((backup) => rm(join(backup, 'manifest.json'))), 'manifest.json'],
    ['the manifest is no JSON', spoiled((backup) => writeFile(join(backup, 'manifest.json'), '{')), 'manifest.json'],
    ['the manifest is of a later version', () => manifestOf((manifest) => ({ ...manifest, format: 99 })), 'format 99'],
    [
      'the ledger is of a later version',
      () => manifestOf((manifest) => ({ ...manifest, ledgerFormat: 99 })),
      'run version',
    ],
    ['the manifest names no ledger', () => manifestOf((manifest) => ({ ...manifest, files: {} })), 'no ledger'],
    [
      'a path leads out of the backup',
      () => manifestOf((manifest) => ({ ...manifest, shared: { 'uploads/../../secret': someContent } })),
      'damaged',
    ],
    [
      'a file name leads out of the backup',
      () => manifestOf((manifest) => ({ ...manifest, files: { '../secret': someContent } })),
      'damaged',
    ],
    ...['stolen', 'objects', 'last-backup', 'ledger.sqlite-wal'].map((name): [string, () => Promise<void>, string] => [
      `it has a file that backups never have: ${name}`,
      () =>
        manifestOf((manifest) => ({
          ...manifest,
          files: { ...(manifest.files as Record<string, unknown>), [name]: someContent },
        })),
      name,
    ]),
    ['all may write the folder', widened(0o777, () => dir), 'chmod go-w'],
    ['a group may write its manifest', widened(0o660, ofBackup('manifest.json')), 'manifest.json .*chmod go-w'],
    ['all may write an upload', widened(0o666, () => join(dir, 'uploads', idOf('A'))), 'A .*chmod go-w'],
    ['its folder is a link', instead((backup) => backup, linkToMoved), 'symbolic link'],
    ['its ledger is a link', instead(ofBackup('ledger.sqlite'), linkToMoved), 'ledger.sqlite is a symbolic link'],
    ['a secret is an endless device', instead(ofBackup('secret'), linkTo('/dev/zero')), 'secret is a symbolic link'],
    ['a secret is a pipe', instead(ofBackup('secret'), pipe), 'secret is not a regular file'],
    ['the uploads are a link', instead(() => join(dir, 'uploads'), linkToMoved), 'uploads is a symbolic link'],
    [
      'a file is longer than announced',
      spoiled((backup) => appendFile(join(backup, 'secret'), 'more')),
      'secret has other bytes',
    ],
  ])('a backup is refused, and the folder stays as it is, if %s', async (_, prepare, part) => {
    await prepare();
    const before = await names(data);
    await expect(restored()).rejects.toEqual(refused(part));
    expect(await names(data)).toEqual(before);
    await take([price('gold', 1, 2)]);
  });

  test.each([
    ['the folder', () => dir],
    ['the dated folder', (backup: string) => backup],
    ['a file', ofBackup('secret')],
  ])('a backup is refused if %s belongs to another user', async (_, place) => {
    const { backup } = await made();
    // Only root can give a file away; others are somebody else themselves.
    const user = process.getuid;
    if (user?.() === 0) await chown(place(backup), 65_534, 65_534);
    else process.getuid = () => 65_534;
    try {
      await expect(restored()).rejects.toEqual(refused('belongs to another user'));
    } finally {
      if (user !== undefined) process.getuid = user;
    }
  });

  test('the name of a backup that is not there is refused, with the names of those that are', async () => {
    const { kept } = await made();
    await expect(restored('../data')).rejects.toEqual(refused('no complete backup', kept[0] as string));
  });
});
