/** A takedown as its operator sees it: the command line, a server that is killed meanwhile, and `tidemark verify --log`. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startServer } from '../server/server-process.ts';
import { makeTemporaryFolder } from '../storage/temporary-folder.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const SLUG = 'gold-usd';
const KEPT = 'bitcoin-usd';

test('the texts leave the log, the server is killed and started again, and the log and old receipts verify', async () => {
  const temporary = await makeTemporaryFolder();
  const folder = temporary.folder;
  const receipt = `${folder}/kept.tlog-proof`;
  const environment = { TIDEMARK_DATA: folder, TIDEMARK_VERIFY_HOURS: '0' };
  const tidemark = (...words: readonly string[]) => {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, XDG_CONFIG_HOME: folder, TIDEMARK_DATA: folder };
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...words], { env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };
  const succeed = (...words: readonly string[]) => {
    const { status, output } = tidemark(...words);
    expect(status, output).toBe(0);
    return output;
  };
  let server = startServer(environment);
  try {
    let url = await server.started;
    const vkey = (await (await fetch(`${url}/api/v1/log/vkey`)).text()).trim();
    const history = await (await fetch(`${url}/api/v1/markets/${KEPT}/history`)).text();
    const observedAt = /"observedAt":"([^"]+)"/.exec(history)?.[1] ?? '';
    succeed('receipt', KEPT, '--observed-at', observedAt, '-o', receipt, '--log-key', vkey);
    const early = tidemark('takedowns', 'create', '--market', SLUG, '--reason', 'A court.', '--yes');
    expect(early.output).toContain('Remove it first');
    expect(early.status).not.toBe(0);
    succeed('removals', 'create', SLUG, '--reason', 'Over.', '--yes');
    succeed('takedowns', 'create', '--market', SLUG, '--reason', 'A court.', '--yes');
    await server.end('SIGKILL');
    server = startServer(environment);
    url = await server.started;
    await expect
      .poll(() => tidemark('takedowns', 'list', '--json').output, { timeout: 60_000, interval: 500 })
      .toContain('"state":"done"');

    const [, size] = (await (await fetch(`${url}/api/v1/log/checkpoint`)).text()).split('\n');
    const hidden: string[] = [];
    for (let n = 0; (n + 1) * 256 <= Number(size); n++) {
      const index = String(n).padStart(3, '0');
      const file = await fetch(`${url}/api/v1/log/ndjson/${index}.gz`);
      const lines = gunzipSync(Buffer.from(await file.arrayBuffer()))
        .toString('utf8')
        .split('\n');
      expect(lines.filter((line) => line.includes(`"market":"${SLUG}"`))).toEqual([]);
      hidden.push(...lines.filter((line) => line.startsWith('{"takenDown":')));
      const { status } = await fetch(`${url}/api/v1/log/tile/entries/${index}`);
      expect(status).toBe(lines.some((line) => line.startsWith('{"takenDown":')) ? 410 : 200);
    }
    expect(hidden.length).toBeGreaterThan(10);
    const verified = succeed('verify', url, '--log');
    expect(verified).toContain('taken down');
    expect(verified).toContain('0 findings');
    succeed('receipt', 'verify', receipt, '--log-key', vkey);
  } finally {
    await server.end('SIGKILL');
    await temporary.remove();
  }
}, 240_000);
