/** After `tidemark restore`, no key works again that was revoked or rotated since, and no erased person is back. */
import { existsSync } from 'node:fs';
import { cp, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tidemarkHere as tidemark } from '../cli/in-process.ts';
import { folderForAll, temporaryFolder } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const SCOPES = ['ingest:write'];
type Name = 'kept' | 'revoked' | 'rotated' | 'erased' | 'revoked before';

const temporary = folderForAll();
/** As the server left it, and the folder of its backup. */
let original: string;
let backups: string;
let operator: string;
const keys = new Map<Name | 'rotated, new' | 'issued later', string>();
let erased: string;

const at = (url: string, credential: string) => ({ send: senderTo(`${url}/api/v1`, credential) });

async function served<Result>(data: string, use: (server: ServerProcess, url: string) => Promise<Result>) {
  const server = startServer({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
  try {
    return await use(server, await server.started);
  } finally {
    await server.end('SIGTERM');
  }
}

const readKey = async (data: string) => (await readFile(join(data, 'operator-key'), 'utf8')).trim();

beforeAll(async () => {
  [original, backups] = [join(temporary.folder, 'data'), join(temporary.folder, 'backups')];
  await served(original, async (_, url) => {
    operator = await readKey(original);
    const { send } = at(url, operator);
    const consentedAt = new Date(Date.now() - 60_000).toISOString();
    const application = { contact: 'jo@example.org', useCase: 'Feed', requestsPerDay: 10, consentedAt };
    erased = (await send('POST', '/waitlist-requests', application)).json.id;
    await send('POST', `/waitlist-requests/${erased}/decision`, { outcome: 'approved' });
    const ids = new Map<string, string>();
    const issue = async (name: Name | 'issued later') => {
      const body = { waitlistRequest: name === 'erased' ? erased : null, label: name, scopes: SCOPES };
      const { json } = await send('POST', '/api-keys', body);
      keys.set(name, json.key);
      ids.set(name, json.id);
    };
    for (const name of ['kept', 'revoked', 'rotated', 'erased', 'revoked before'] as const) await issue(name);
    await send('DELETE', `/api-keys/${ids.get('revoked before')}`);
    expect(await tidemark(['backup', backups, '--data', original])).toMatchObject({ code: 0 });
    expect((await send('DELETE', `/api-keys/${ids.get('revoked')}`)).status).toBe(204);
    const rotation = await send('POST', `/api-keys/${ids.get('rotated')}/rotation`, { overlapSeconds: 0 });
    keys.set('rotated, new', rotation.json.key);
    expect((await send('POST', '/erasures', { subject: `account:${erased}` })).status).toBe(202);
    await issue('issued later');
  });
}, 60_000);

let data: string;
beforeEach(async () => {
  data = join(await temporaryFolder(), 'data');
});

const asLeft = () => cp(original, data, { recursive: true });
const restore = (...words: readonly string[]) => tidemark(['restore', backups, '--data', data, ...words]);

/** The keys that the server accepts after its start, and the contact of the erased person. */
function accepted(): Promise<{ readonly keys: readonly string[]; readonly contact: string | null }> {
  return served(data, async (_, url) => {
    const all = [['operator', operator], ['in the file', await readKey(data)], ...keys] as const;
    const statuses = await Promise.all(all.map(([, key]) => at(url, key).send('GET', '/me')));
    const { json } = await at(url, await readKey(data)).send('GET', '/waitlist-requests');
    const valid = all.filter((_each, index) => statuses[index]?.status === 200).map(([name]) => name);
    return { keys: valid, contact: json?.data[0].contact };
  });
}

const CARRIED_OVER = { keys: ['operator', 'in the file', 'kept', 'rotated, new'], contact: null };
const AS_IN_BACKUP = ['operator', 'in the file', 'kept', 'revoked', 'rotated', 'erased'];

describe('with the ledger of before', () => {
  beforeEach(asLeft);

  test('keys stay revoked and rotated, and an erasure is done again', async () => {
    const { code, output, errors } = await restore('--replace', '--json');
    expect(code, errors).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ changedKeys: 3, repeatedErasures: 1 });
    expect(await accepted()).toEqual(CARRIED_OVER);
    expect(await tidemark(['verify-audit', '--data', data])).toMatchObject({ code: 0 });
  });

  test('also if the restore was interrupted after it had moved that ledger aside, and is done again', async () => {
    const aside = join(data, 'replaced-2026-11-23T03-00-00.000Z');
    await mkdir(aside);
    for (const name of await readdir(data)) {
      if (name !== 'public' && name !== 'store' && !name.startsWith('replaced-'))
        await rename(join(data, name), join(aside, name));
    }
    await writeFile(join(data, 'restoring'), 'a backup\n');
    expect(await restore()).toMatchObject({ code: 0 });
    expect(await restore('--replace')).toMatchObject({ code: 0 });
    expect(await accepted()).toEqual(CARRIED_OVER);
  });

  test('if the key of the operator was rotated since, its file has the new one', async () => {
    await served(data, async (_, url) => {
      const id = operator.split('_')[2];
      const { json } = await at(url, operator).send('POST', `/api-keys/${id}/rotation`, { overlapSeconds: 0 });
      await writeFile(join(data, 'operator-key'), `${json.key}\n`);
    });
    expect(await restore('--replace')).toMatchObject({ code: 0 });
    expect((await accepted()).keys).toEqual(CARRIED_OVER.keys.filter((name) => name !== 'operator'));
  });

  test('with --keep-keys all keys of the backup work again, but those of the erased account', async () => {
    expect(await restore('--replace', '--keep-keys')).toMatchObject({ code: 0 });
    const { keys: valid, contact } = await accepted();
    expect([valid, contact]).toEqual([AS_IN_BACKUP.filter((name) => name !== 'erased'), null]);
  });
});

describe('without a ledger that knows', () => {
  const damage = async () => {
    await asLeft();
    const file = await open(join(data, 'ledger.sqlite'), 'r+');
    await file.write(Buffer.alloc(8192, 0xff), 0, 8192, 0);
    await file.close();
  };
  const another = async () => {
    await served(data, async () => {});
    // Otherwise its log is refused first.
    await rm(join(data, 'public'), { recursive: true });
  };

  test.each<[string, () => Promise<unknown>, readonly string[]]>([
    ['there is none', async () => {}, []],
    ['it is damaged', damage, ['--replace']],
    ['it is one that has never known these keys', another, ['--replace']],
  ])('if %s, an option must say what to do; nothing is changed, and the keys are listed', async (_, prepare, words) => {
    await prepare();
    const names = async () => (existsSync(data) ? (await readdir(data)).sort() : null);
    const before = await names();
    const { code, output, errors } = await restore(...words);
    expect([code, output, await names()]).toEqual([2, '', before]);
    for (const part of ['--keep-keys', '--revoke-keys', 'kept', 'revoked', 'rotated', 'erased', `account:${erased}`]) {
      expect(errors).toContain(part);
    }
    expect(errors).not.toContain('revoked before');
    expect(await restore(...words, '--keep-keys', '--revoke-keys')).not.toMatchObject({ code: 0 });
    expect(await names()).toEqual(before);
  });

  test('--keep-keys takes them as they are in the backup', async () => {
    expect(await restore('--keep-keys')).toMatchObject({ code: 0 });
    expect((await accepted()).keys).toEqual(AS_IN_BACKUP);
  });

  test('--revoke-keys revokes all of them, and the operator gets a new key', async () => {
    expect(await restore('--revoke-keys')).toMatchObject({ code: 0 });
    expect((await accepted()).keys).toEqual(['in the file']);
  });
});
