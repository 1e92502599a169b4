/** Every operation of the write API has its verb, and the generated ones send what the operation takes. */
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { CONSEQUENCES, GENERATED, VERBS } from '../../cli/operations/verbs.ts';
import { createProgram } from '../../cli/program/program.ts';
import { OPERATIONS, type OperationId, operationOf } from '../../contract/operations/operations.ts';
import { serverForAll } from '../server/server-process.ts';
import { tidemarkHere } from './in-process.ts';
import { json, stubServer } from './stub-server.ts';
import { tidemarkOnTerminal } from './tidemark.ts';

const PROGRAM = await createProgram();
const KEY = { TIDEMARK_KEY: 'key' };

function commandOf(words: string): Command | undefined {
  return words
    .split(' ')
    .reduce<Command | undefined>((command, word) => command?.commands.find((child) => child.name() === word), PROGRAM);
}

describe('the table of verbs', () => {
  test.each(Object.keys(OPERATIONS) as OperationId[])('has a command for %s', (id) => {
    expect(commandOf(VERBS[id])?.commands).toEqual([]);
  });

  test('has a verb of its own for each generated operation', () => {
    expect(new Set(GENERATED.map((id) => VERBS[id])).size).toBe(GENERATED.length);
    expect(Object.keys(VERBS)).toHaveLength(Object.keys(OPERATIONS).length);
  });
});

const PREFIX = '/api/v1/';

describe('the words of the help', () => {
  test.each(GENERATED)('of %s send its example', async (id) => {
    const operation = operationOf(id);
    const { method, path, example, success } = operation;
    const words = [...exampleOf(id), ...(id in CONSEQUENCES ? ['--yes'] : [])];
    const { url, seen } = await stubServer(json(example.response ?? {}, success.status === 204 ? 200 : success.status));
    const run = await tidemarkHere([...words, '--url', url, '--json'], { environment: KEY });
    expect(run).toMatchObject({ code: 0 });
    const [request] = seen;
    const asked = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(example.params?.[name] ?? ''));
    const search = new URLSearchParams(example.query).toString();
    expect([request?.method, request?.url]).toEqual([method, search === '' ? asked : `${asked}?${search}`]);
    expect(request?.url.startsWith(PREFIX)).toBe(true);
    expect(request?.headers.authorization).toBe('Bearer key');
    expect('idempotency-key' in (request?.headers ?? {})).toBe(method !== 'GET');
    if (operation.body !== undefined && !words.includes('--body')) {
      const known = Object.entries(example.body as object).filter(([, value]) => value !== null && value !== false);
      expect(JSON.parse(request?.body ?? '')).toEqual(Object.fromEntries(known));
    }
  });
});

function helpOf(id: OperationId): string {
  let help = '';
  const command = commandOf(VERBS[id]) as Command;
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

/** An example in the help of a command, as words: the one that follows from its operation, or another one. */
function exampleOf(id: OperationId, title = 'Example'): string[] {
  const [, line = ''] = new RegExp(`${title}:\\n {2}tidemark (.*)`).exec(helpOf(id)) ?? [];
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  return words.map((word) => (word === '@body.json' ? JSON.stringify(operationOf(id).example.body) : word));
}

test('the help of a claim has every action of a review, and a body that can be sent', () => {
  expect(helpOf('reviewClaim')).toContain('start, resume, request-evidence');
  const help = helpOf('createClaim');
  expect(JSON.parse(/body\.json:\n([\s\S]*)/.exec(help)?.[1] ?? '')).toEqual(operationOf('createClaim').example.body);
  expect(help, 'no list of texts').not.toContain('--evidence');
});

test.each([
  ['user:bob', ['--if-match', '--create']],
  ['bob', ['user:<sub>', 'account:<waitlist request id>']],
])('a grant for %s without a precondition or a right subject says what it needs', async (subject, parts) => {
  const { url, seen } = await stubServer(json({}));
  const words = [
    'entitlements',
    'set',
    subject,
    'watchlists',
    '--limit',
    '1',
    ...(subject === 'bob' ? ['--create'] : []),
  ];
  const { code, errors } = await tidemarkHere([...words, '--url', url], { environment: KEY });
  expect([code, seen]).toEqual([2, []]);
  for (const part of parts) expect(errors).toContain(part);
});

test('a search of the audit that finds nothing says how names are written', async () => {
  const { url, seen } = await stubServer(json({ data: [], page: { nextCursor: null } }));
  const run = await tidemarkHere(['audit', 'search', '--target', 'gold-usd', '--url', url], { environment: KEY });
  expect(run).toMatchObject({ code: 0, output: '', errors: expect.stringContaining('market/gold-usd') });
  expect(seen[0]?.url).toBe('/api/v1/audit-records?target=gold-usd');
});

describe('an option that is left out does not say', () => {
  test.each<[string, readonly string[], string]>([
    ['whose key it is', ['keys', 'create', '--label', 'x', '--scopes', 'audit:read'], '--operator'],
    [
      'which of both it is',
      ['keys', 'create', '--operator', '--waitlist-request', 'req_1', '--label', 'x', '--scopes', 'audit:read'],
      'cannot be used',
    ],
    [
      'that the list becomes empty',
      ['watchlists', 'replace', 'wl_1', '--name', 'x', '--if-match', '1'],
      '"markets":[]',
    ],
    [
      'that the grant does not end any more',
      ['entitlements', 'set', 'user:a', 'watchlists', '--limit', '9', '--if-match', '1'],
      '{"limit":9,"expiresAt":null}',
    ],
  ])('%s', async (_, words, part) => {
    const { url, seen } = await stubServer(json({}));
    const { code, errors } = await tidemarkHere([...words, '--url', url], { environment: KEY });
    expect([code, errors, seen]).toEqual([2, expect.stringContaining(part), []]);
  });

  test('a body that replaces says it, and so do the options', async () => {
    const { url, seen } = await stubServer(json({}));
    const set = (...words: readonly string[]) =>
      tidemarkHere(['entitlements', 'set', 'user:a', 'claims', '--url', url, ...words], { environment: KEY });
    await set('--if-match', '1', '--body', '{"limit":9,"expiresAt":null}');
    await set('--create', '--no-enabled');
    await set('--if-match', '1', '--enabled', '--expires-at', '2027-01-01T00:00:00Z');
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      { limit: 9, expiresAt: null },
      { enabled: false },
      { enabled: true, expiresAt: '2027-01-01T00:00:00Z' },
    ]);
  });
});

describe('a change that nothing brings back', () => {
  const words = ['erasures', 'create', '--subject', 'user:alice'];

  test.each(Object.entries(CONSEQUENCES))('%s needs --yes on a pipe', async (id, consequence) => {
    const { url, seen } = await stubServer(json({}));
    const run = await tidemarkHere([...exampleOf(id as OperationId), '--url', url], { environment: KEY });
    expect(run).toMatchObject({ code: 2, errors: expect.stringContaining(consequence) });
    expect(run.errors).toContain('--yes');
    expect(seen).toEqual([]);
  });

  test.each([
    ['yes\n', 0, 1],
    ['Yes \n', 0, 1],
    ['y\n', 2, 0],
    ['\n', 2, 0],
    ['\u0004', 2, 0],
  ])('asks on a terminal, and %j is the answer', async (input, code, requests) => {
    const { url, seen } = await stubServer(json({}, 202));
    const run = await tidemarkOnTerminal([...words, '--url', url], { environment: KEY, keys: ['go on: ', input] });
    expect(run).toMatchObject({
      code,
      output: expect.stringContaining(`erasures create user:alice, at ${url}: all of`),
    });
    expect(seen).toHaveLength(requests);
  });

  test('Ctrl-C is no answer', async () => {
    const { url, seen } = await stubServer(json({}, 202));
    const run = await tidemarkOnTerminal([...words, '--url', url], { environment: KEY, keys: ['go on: ', '\u0003'] });
    expect(run.code).toBe(130);
    expect(seen).toEqual([]);
  });
});

describe('on a running server', () => {
  const served = serverForAll();

  const run = (words: readonly string[], input?: string) =>
    tidemarkHere([...words, '--data', served.data], input === undefined ? {} : { input });

  test('an operator records a request, approves it, issues a key, uses it and revokes it', async () => {
    const consent = ['--requests-per-day', '10', '--consented-at', '2026-01-01T00:00:00Z'];
    const request = ['--contact', 'jo@example.org', '--use-case', 'A chart', ...consent];
    const { id } = JSON.parse((await run(['waitlist', 'create', ...request, '--json'])).output) as { id: string };
    expect(await run(['waitlist', 'decide', id, '--outcome', 'approved'])).toMatchObject({ code: 0 });
    const scopes = ['--scopes', 'watchlists:read,watchlists:write'];
    const words = ['keys', 'create', '--waitlist-request', id, '--label', 'Chart', ...scopes, '--json'];
    const issued = JSON.parse((await run(words)).output) as { id: string; key: string };
    const { url } = served;
    const asAccount = (...own: readonly string[]) =>
      tidemarkHere([...own, '--url', url], { environment: { TIDEMARK_KEY: issued.key } });

    const list = JSON.parse((await asAccount('watchlists', 'create', '--name', 'Mine', '--json')).output);
    const replace = ['watchlists', 'replace', list.id, '--name', 'Ours', '--markets', ''];
    expect(await asAccount(...replace)).toMatchObject({ code: 2, errors: expect.stringContaining('--if-match') });
    expect(await asAccount(...replace, '--if-match', '7')).toMatchObject({ code: 3 });
    expect(await asAccount(...replace, '--if-match', '1')).toMatchObject({ code: 0 });
    expect((await asAccount('watchlists', 'list')).output).toMatch(new RegExp(`^${list.id}\tOurs\t`));
    expect(await asAccount('audit', 'search', '--actor', 'user:alice')).toMatchObject({ code: 3 });
    const found = await run(['audit', 'search', '--actor', `key:${issued.id}`, '--limit', '1']);
    expect(found.output.trimEnd().split('\n')).toHaveLength(1);
    expect((await run(['entitlements', 'list', '--subject', `account:${id}`])).output).toMatch(
      /^watchlists\tWatchlists\tquota\t\d+\t1\t/m,
    );

    const revoked = await run(['keys', 'revoke', issued.id, '--yes']);
    expect(revoked).toMatchObject({ code: 0, output: '', errors: 'Revoked\n' });
  });

  test('an operator issues a second key of the operators, as the help shows', async () => {
    const words = exampleOf('createApiKey', 'A second key of the operators');
    const { output } = await run([...words, '--json']);
    expect(JSON.parse(output)).toMatchObject({ subject: 'operator', label: 'Second operator' });
    // A body of its own says everything itself.
    const body = JSON.stringify({ label: 'x', scopes: ['audit:read'] });
    expect(await run(['keys', 'create', '--body', body])).toMatchObject({
      code: 3,
      errors: expect.stringContaining('waitlistRequest'),
    });
  });

  test.each<[string, readonly string[], string | undefined]>([
    ['words', ['--body', '{"name":"A","markets":[]}'], undefined],
    ['standard input', ['--body', '-'], '{"name":"A","markets":[]}'],
    ['a file, and an option on top', ['--body', '@package.json', '--name', 'A'], undefined],
  ])('a body comes from %s', async (_, words, input) => {
    const answer = await run(['watchlists', 'create', ...words], input);
    // package.json has other members than a watchlist.
    expect(answer.code).toBe(words.includes('@package.json') ? 3 : 0);
  });

  test.each([['{'], ['[]'], ['@no-such-file'], ['1']])('the body %j is refused before it is sent', async (body) => {
    expect(await run(['watchlists', 'create', '--body', body])).toMatchObject({ code: 2, output: '' });
  });
});
