/** `tidemark doctor`: on a running server, behind proxies that break promises, and on data folders with faults. */
import { chmod, mkdir, open, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Diagnosis } from '../../server/doctor/diagnosis.ts';
import { examineFolder } from '../../server/doctor/folder.ts';
import { examineService } from '../../server/doctor/service.ts';
import { openDataFolder } from '../../server/folder/data-folder.ts';
import { serveFiles } from '../run/run-world.ts';
import { serverForAll } from '../server/server-process.ts';
import { testAuthority } from '../sources/test-certificates.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { tidemarkHere } from './in-process.ts';
import { tidemark } from './tidemark.ts';

const notOk = (found: readonly Diagnosis[]) =>
  found.filter(({ state }) => state !== 'ok').map(({ state, check }) => `${state} ${check}`);

describe('a service', () => {
  const served = serverForAll({
    ...{ TIDEMARK_SAMPLE: 'no', TIDEMARK_OPERATOR_NAME: 'Grain Desk' },
    ...{ TIDEMARK_OPERATOR_CONTACT: 'desk@grain.example', TIDEMARK_DATA_LICENCE: 'CC-BY-4.0' },
    TIDEMARK_WAITLIST_EMAIL: 'keys@grain-desk.org',
  });

  test('that runs in a data folder has no fault: only a backup is missing', async () => {
    const run = await tidemarkHere(['doctor', '--data', served.data, '--ledger', '--json']);
    const { faults, warnings, checks } = JSON.parse(run.output) as {
      faults: number;
      warnings: number;
      checks: Diagnosis[];
    };
    expect([run.code, faults, warnings, notOk(checks)]).toEqual([0, 0, 1, ['warning backup']]);
    // The port of the server that runs, and not the one that this shell would give it.
    const configuration = checks.find(({ check }) => check === 'configuration');
    expect(configuration?.detail).toContain(served.url);
    expect(configuration?.detail).not.toContain('8787');
    expect(await tidemarkHere(['backup', join(served.folder, 'backups'), '--data', served.data])).toMatchObject({
      code: 0,
    });
    const again = await tidemarkHere(['doctor', '--data', served.data, '--quiet']);
    expect(again).toMatchObject({ code: 0, errors: '0 faults, 0 warnings\n' });
    expect(again.output).toMatch(/^ok\tcompression\tbr$/m);
  });

  interface Changed {
    status: number;
    headers: IncomingHttpHeaders;
    body: Buffer;
  }

  /** A proxy that changes requests and answers. */
  async function behind(
    change: (answer: Changed, asked: IncomingMessage) => void,
    path: (asked: string) => string = (asked) => asked,
  ): Promise<URL> {
    const proxy = createServer((asked, response) => {
      const { method = 'GET', headers } = asked;
      request(served.url + path(asked.url ?? ''), { method, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const changed = {
            status: answer.statusCode ?? 0,
            headers: { ...answer.headers },
            body: Buffer.concat(chunks),
          };
          change(changed, asked);
          respond(response, changed);
        });
      }).end();
    });
    proxy.listen(0, '127.0.0.1');
    await new Promise((resolve) => proxy.once('listening', resolve));
    onTestFinished(() => void proxy.close());
    return new URL(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  }

  function respond(response: ServerResponse, { status, headers, body }: Changed): void {
    const { 'content-length': _, 'transfer-encoding': __, ...kept } = headers;
    response.writeHead(status, kept).end(body);
  }

  const without =
    (name: string) =>
    ({ headers }: Changed) => {
      delete headers[name];
    };
  const set =
    (name: string, value: string) =>
    ({ headers }: Changed) => {
      headers[name] = value;
    };

  const OWN_PAGE = { headers: { 'content-type': 'text/html' }, body: Buffer.from('<h1>Welcome</h1>') };
  const REDIRECTION = { status: 301, headers: { location: 'https://data.example/' } };
  const ofStatus = (status: number, change: Partial<Changed>) => (answer: Changed) =>
    Object.assign(answer, answer.status === status ? change : {});
  const ofPath =
    (path: string, change: (answer: Changed) => Partial<Changed>) => (answer: Changed, asked: IncomingMessage) =>
      Object.assign(answer, asked.url === path ? change(answer) : {});
  const breakPaths = (answer: Changed, { url = '' }: IncomingMessage) =>
    Object.assign(answer, /\.\w+($|\?)/.test(url) ? {} : { status: 404, ...OWN_PAGE });
  const withoutOperator = ({ body }: Changed) => ({ body: Buffer.from(`${body}`.replaceAll('class="operator"', '')) });

  const toNobody = ({ body }: Changed) => ({
    body: Buffer.from(`${body}`.replaceAll('keys@grain-desk.org', 'waitlist@tidemark.example')),
  });

  test.each<[string, Parameters<typeof behind>, readonly string[]]>([
    ['passes on everything', [() => {}], []],
    ['drops ETags', [without('etag')], ['fault headers']],
    [
      'sets its own Cache-Control',
      [set('cache-control', 'max-age=3600')],
      ['fault headers', 'fault HEAD', 'fault write API'],
    ],
    ['drops CORS', [without('access-control-allow-origin')], ['fault headers']],
    ['drops nosniff', [without('x-content-type-options')], ['fault headers']],
    ['drops Vary', [without('vary')], ['fault compression']],
    ['drops Age', [without('age')], ['warning Age']],
    ['serves stale answers', [set('age', '100')], ['warning Age']],
    ['serves very old answers', [set('age', '1000')], ['fault Age']],
    ['drops the query', [() => {}, (path) => path.replace(/\?.*/, '')], ['fault query']],
    ['shows its own page for an unknown market', [ofStatus(404, OWN_PAGE)], ['fault not found']],
    ['answers every If-None-Match in full', [ofStatus(304, { status: 200 })], ['fault conditional']],
    ['takes the key request for its own', [ofStatus(401, { status: 500 })], ['fault write API']],
    ['has a clock that is behind', [set('date', 'Sun, 22 Nov 2020 00:00:00 GMT')], ['fault clock of the service']],
    ['redirects', [(answer) => Object.assign(answer, REDIRECTION)], ['fault service']],
    ['answers with a page of its own', [(answer) => Object.assign(answer, { body: OWN_PAGE.body })], ['fault service']],
    ['does not say whose it is', [ofPath('/', withoutOperator)], ['warning operator']],
    ['asks for mail to the default address', [ofPath('/api/v1/waitlist.json', toNobody)], ['warning operator']],
    ['breaks paths without an extension', [breakPaths], ['fault service']],
    ['hides the health', [ofPath('/healthz', () => ({ status: 404 }))], []],
    ['sees a failing server', [ofPath('/healthz', () => ({ status: 503 }))], ['fault health']],
  ])('behind a proxy that %s is judged', async (_, proxy, expected) => {
    expect(notOk(await examineService(await behind(...proxy), 10))).toEqual(expected);
  });

  test('behind a proxy that removes Accept-Encoding is told to be larger than needed', async () => {
    const base = await behind((answer) => {
      delete answer.headers['content-encoding'];
    });
    expect(notOk(await examineService(base, 10))).toEqual(['warning compression']);
  });

  test('that is a host of plain files has no fault, also below a path', async () => {
    const folder = await temporaryFolder();
    await symlink(join(served.data, 'public'), join(folder, 'prices'));
    const url = new URL(`${await serveFiles(folder)}/prices/`);
    const found = await examineService(url, 10);
    expect([found.map(({ check }) => check), notOk(found)]).toEqual([['service', 'operator'], []]);
    expect(notOk(await examineService(new URL('/api/', url), 10))).toEqual(['fault service']);
  });

  test('that is named by an option or a profile is asked, and not a data folder', async () => {
    const config = join(served.folder, 'config.json');
    await writeFile(config, JSON.stringify({ profiles: { production: { url: served.url } } }), { mode: 0o600 });
    for (const words of [
      ['--url', served.url],
      ['--profile', 'production', '--config', config],
    ]) {
      const run = await tidemarkHere(['doctor', ...words], { environment: { TIDEMARK_DATA: served.data } });
      expect([run.code, run.output.split('\n')[0]]).toEqual([0, expect.stringMatching(/^ok\tservice\t/)]);
    }
  });

  test('that does not answer is a fault, with exit code 1', async () => {
    const run = await tidemarkHere(['doctor', 'http://127.0.0.1:1']);
    expect(run).toMatchObject({
      code: 1,
      errors: '1 fault, 0 warnings\n',
      output: expect.stringContaining('ECONNREFUSED'),
    });
    expect(await tidemarkHere(['doctor', 'no-url'])).toMatchObject({ code: 2, output: '' });
  });

  describe('with TLS', () => {
    const DAY_MS = 86_400_000;
    const authority = testAuthority();
    const certificates = {
      long: authority.issue(['localhost'], [new Date(Date.now() - DAY_MS), new Date(Date.now() + 90 * DAY_MS)]),
      short: authority.issue(['localhost'], [new Date(Date.now() - DAY_MS), new Date(Date.now() + 4.5 * DAY_MS)]),
      ended: authority.issue(['localhost'], [new Date(Date.now() - 3 * DAY_MS), new Date(Date.now() - 1.5 * DAY_MS)]),
    };

    test.each<[string, keyof typeof certificates, object, RegExp]>([
      ['is trusted is fine', 'long', {}, /^ok\tcertificate\t.*\d+ days left, TLSv1.3/m],
      ['ends soon gets a warning', 'short', {}, /^warning\tcertificate\t.* 4 days left/m],
      ['has ended is a fault', 'ended', {}, /^fault\tcertificate\tended 2 days ago/m],
      ['is for another host is a fault', 'long', { host: '127.0.0.1' }, /^fault\tcertificate\t.*ALTNAME/m],
      ['is not trusted is a fault', 'long', { isTrusted: false }, /^fault\tcertificate\t.*UNABLE_TO/m],
    ])('a service whose certificate %s', async (_, name, more, line) => {
      const { host, isTrusted } = { host: 'localhost', isTrusted: true, ...more };
      const { key, cert } = certificates[name];
      const proxy = createTlsServer({ key, cert }, (asked, response) => {
        const { method, headers } = asked;
        request(served.url + asked.url, { ...(method ? { method } : {}), headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        }).end();
      });
      proxy.listen(0);
      await new Promise((resolve) => proxy.once('listening', resolve));
      onTestFinished(() => void proxy.close());
      const file = join(served.folder, 'authority.pem');
      await writeFile(file, authority.certificate);
      const environment: Record<string, string> = isTrusted ? { NODE_EXTRA_CA_CERTS: file } : {};
      const base = `https://${host}:${(proxy.address() as AddressInfo).port}`;
      const run = await tidemark(['doctor', base], { environment });
      expect([run.code, run.output]).toEqual([line.source.startsWith('^fault') ? 1 : 0, expect.stringMatching(line)]);
    });
  });
});

describe('a data folder of a stopped server', () => {
  let data: string;

  beforeEach(async () => {
    data = join(await temporaryFolder(), 'data');
    const folder = await openDataFolder(data);
    folder.close();
    await chmod(data, 0o700);
    await writeFile(join(data, 'secret'), 'x', { mode: 0o600 });
    await writeFile(join(data, 'last-backup'), JSON.stringify({ at: new Date().toISOString(), backup: data }), {
      mode: 0o600,
    });
  });

  const examined = async (environment: Record<string, string> = {}, nowMs = Date.now()) =>
    (await examineFolder({ TIDEMARK_DATA: data, ...environment }, { readsLedger: false, nowMs })).found;

  test('is fine, and is not changed', async () => {
    const before = await readFile(join(data, 'ledger.sqlite'));
    expect(notOk(await examined())).toEqual([]);
    expect(await readFile(join(data, 'ledger.sqlite'))).toEqual(before);
  });

  test.each<[string, () => Promise<unknown>, readonly string[]]>([
    ['other users can read a secret', () => chmod(join(data, 'secret'), 0o644), ['fault secrets']],
    ['other users can list it', () => chmod(data, 0o755), ['warning permissions']],
    ['other users can write to it', () => chmod(data, 0o777), ['fault permissions']],
    ['other users can write its ledger', () => chmod(join(data, 'ledger.sqlite'), 0o666), ['fault permissions']],
    ['its format is earlier', () => writeFile(join(data, 'format'), '2\n'), ['fault format']],
    ['its format is later', () => writeFile(join(data, 'format'), '99\n'), ['fault format']],
    ['its format is no number', () => writeFile(join(data, 'format'), 'x'), ['fault format']],
    ['a restore was interrupted', () => writeFile(join(data, 'restoring'), ''), ['fault data folder']],
    ['its ledger is gone', () => rm(join(data, 'ledger.sqlite')), ['fault data folder']],
    ['its ledger is no database', () => writeFile(join(data, 'ledger.sqlite'), 'x'.repeat(10_000)), ['fault ledger']],
    [
      'a page of its ledger is lost',
      async () => {
        const file = await open(join(data, 'ledger.sqlite'), 'r+');
        await file.write(Buffer.alloc(8192, 0xff), 0, 8192, 2 * 8192);
        await file.close();
      },
      ['fault ledger'],
    ],
    ['its server was killed', () => writeFile(join(data, 'control.sock'), ''), ['warning server']],
    [
      'other users can write the socket of its server',
      async () => {
        await writeFile(join(data, 'control.sock'), '');
        await chmod(join(data, 'control.sock'), 0o666);
      },
      ['fault server', 'fault permissions'],
    ],
    ['no backup is known', () => rm(join(data, 'last-backup')), ['warning backup']],
    ['the note of its backup is damaged', () => writeFile(join(data, 'last-backup'), '{'), ['warning backup']],
    [
      'its backup is gone',
      () =>
        writeFile(
          join(data, 'last-backup'),
          JSON.stringify({ at: new Date().toISOString(), backup: '/does/not/exist' }),
        ),
      ['warning backup'],
    ],
    [
      'it is a file',
      async () => {
        await rm(data, { recursive: true });
        await writeFile(data, '');
      },
      ['fault data folder'],
    ],
    [
      'it is empty',
      async () => {
        await rm(data, { recursive: true });
        await mkdir(data);
      },
      ['fault data folder'],
    ],
  ])('is judged if %s', async (_, spoil, expected) => {
    await spoil();
    const found = await examined();
    expect(notOk(found)).toEqual(expected);
    expect(found.some(({ detail }) => detail.includes('killed or crashed'))).toBe(expected.includes('warning server'));
    for (const { state, hint } of found) expect(hint === null).toBe(state === 'ok');
  });

  test('has an old backup after some days, and a clock that cannot be right in 1970', async () => {
    expect(notOk(await examined({}, Date.now() + 3 * 24 * 60 * 60 * 1000))).toEqual(['warning backup']);
    expect(notOk(await examined({}, 0))).toEqual(['fault clock']);
  });

  test.each([
    ['PORT', 'http', ['fault configuration']],
    ['HOST', '0.0.0.0', ['warning configuration']],
  ])('is judged by its settings: %s=%s', async (name, value, expected) => {
    expect(notOk(await examined({ [name]: value }))).toEqual(expected);
  });
});
