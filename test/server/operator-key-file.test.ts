/** The file `operator-key` and the banner of `npm start` follow the keys in the ledger, or say that they do not. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { senderTo } from './sender.ts';
import { startServerForTest } from './server-process.ts';

const CURL = /curl -H "Authorization: Bearer \$\(cat [^)]*operator-key\)"/;
const STARTS_MS = 300_000;

test('after a revocation, a rotation, and other changes', { timeout: STARTS_MS }, async () => {
  const data = await temporaryFolder();
  const file = join(data, 'operator-key');
  const keyInFile = async () => (await readFile(file, 'utf8')).trim();
  const idOf = (key: string) => key.split('_')[2];
  let server = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
  let baseUrl = await server.started;

  const send = (method: string, path: string, as: string, body?: object) =>
    senderTo(baseUrl, as)(method, `/api/v1/${path}`, body);

  /** Restarts; gives the note about the file, if there is one. */
  async function restarted(): Promise<string> {
    await server.end('SIGTERM');
    server = startServerForTest({ TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' });
    baseUrl = await server.started;
    const notes = server
      .output()
      .split('\n')
      .filter((line) => line.startsWith('  ! '));
    expect(CURL.test(server.output())).toBe(notes.length === 0);
    return notes.join('\n');
  }

  const first = await keyInFile();
  const issue = { waitlistRequest: null, label: 'Second operator key', scopes: ALL_SCOPES };
  const second: string = (await send('POST', 'api-keys', first, issue)).json.key;
  expect((await send('GET', 'me', second)).json).toMatchObject({ subject: 'operator' });

  const rotation = await send('POST', `api-keys/${idOf(first)}/rotation`, second, { overlapSeconds: 0 });
  expect(await restarted()).toMatch('rotation');
  await writeFile(file, rotation.json.key);
  expect(await restarted()).toBe('');

  expect((await send('DELETE', `api-keys/${idOf(first)}`, second)).status).toBe(204);
  expect(await restarted()).toMatch('revoked');
  expect(await keyInFile()).toBe(rotation.json.key);

  await writeFile(file, 'tdm_dev_0000');
  expect(await restarted()).toMatch('does not hold an API key');
  await writeFile(file, second);
  expect(await restarted()).toBe('');

  // The last one: without another, nobody could write.
  expect((await send('DELETE', `api-keys/${idOf(second)}`, second)).status).toBe(204);
  expect(await restarted()).toBe('');
  expect(server.output()).toContain('Made operator-key');
  const third = await keyInFile();
  expect(third).not.toBe(second);
  expect((await send('GET', 'me', third)).json).toMatchObject({ subject: 'operator' });
  expect((await send('GET', 'me', second)).status).toBe(401);
});
