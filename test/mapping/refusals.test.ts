/** A refusal names the field, the value as it can be seen, and the rule: of a mapping, and of the service. */
import { describe, expect, test } from 'vitest';
import { parseRecord } from '../../lambdas/markets/rules/row-rules.ts';
import { exampleMapping } from './example-mapping.ts';
import { changed, mapped } from './mapped.ts';

/** A mapping in which each of a market's texts is a cell. */
const plain = changed(exampleMapping, {
  '/match': ['slug', 'name', 'kind', 'of'],
  '/tables': [],
  '/withhold': [],
  '/market': {
    ...{ slug: 'x-{slug}', name: '{name}', kind: '{kind}', nativeCurrency: 'USD' },
    unit: { quantity: '1', of: '{of}' },
  },
  '/observation/currency': 'USD',
  '/observation/value': { column: 'price', rounding: 'refuse' },
  '/observation/date': { column: 'day', format: 'YYYY-MM-DD', precision: 'day' },
  '/observation/sourceLabel': '{label}',
  '/observation/sourceUrl': 'https://example.org/',
  '/observation/confidence': 'high',
});

const HEADER = ['slug', 'name', 'kind', 'of', 'price', 'day', 'label'];
const GOOD = { slug: 'tea', name: 'Tea', kind: 'food', of: 'kg', price: '1.5', day: '2026-01-02', label: 'Shop' };

async function results(change: object, more: object = {}, header = HEADER) {
  const cells = { ...GOOD, ...change } as Readonly<Record<string, string>>;
  const csv = [header, HEADER.map((name) => `"${cells[name]}"`)].map((row) => row.join(',')).join('\n');
  return await mapped({ ...(plain as object), ...more }, csv);
}

const ZERO_WIDTH = 'Te\u200ba';

describe('a mapping refuses', () => {
  test.each<[string, object, string, string]>([
    ['an empty slug', { slug: '-' }, '/slug', '"x-"'],
    ['two words as a kind', { kind: 'hot food' }, '/kind', '"hot food"'],
    ['a zero-width space', { name: ZERO_WIDTH }, '/name', '"Te\\u200ba"'],
    ['a mark of direction', { label: 'a\u202eb' }, '/sourceLabel', '"a\\u202eb"'],
  ])('%s', async (_, change, pointer, value) => {
    const [refusal] = await results(change);
    expect(refusal).toMatchObject({ kind: 'refusal', line: 2, pointer });
    const { detail } = refusal as { detail: string };
    // Nothing that the schema library says by itself.
    expect(detail).not.toMatch(/expected|Invalid|Too (small|big)/);
    const beginning = `${pointer.slice(1).replace('/', '.')} ${value}: `;
    expect(detail.startsWith(beginning)).toBe(true);
    expect(detail.length).toBeGreaterThan(beginning.length + 10);
  });

  test('an invisible character by its code and place, and takes the text without it if the mapping says so', async () => {
    const [refusal] = await results({ name: ZERO_WIDTH });
    expect(refusal).toMatchObject({ detail: expect.stringMatching(/U\+200B.* 3\b.*"invisible": "strip"/) });
    const [market] = await results({ name: `${ZERO_WIDTH}\ufeff`, price: '\u200b1.5' }, { invisible: 'strip' });
    expect(market).toMatchObject({ kind: 'record', record: { name: 'Tea' } });
  });

  test('and strips the names of columns, too', async () => {
    const header = HEADER.map((name) => (name === 'price' ? 'pri\u00adce' : name));
    expect(await results({}, {}, header)).toMatchObject([{ kind: 'refusal' }]);
    expect(await results({}, { invisible: 'strip' }, header)).toMatchObject([{ kind: 'record' }, { kind: 'record' }]);
    expect(await results({}, { invisible: 'strip' }, [...header, 'price'])).toMatchObject([
      { kind: 'refusal', line: 1, column: 'price' },
    ]);
  });
});

describe('the service refuses', () => {
  const market = {
    ...{ type: 'market', slug: 'tea', name: 'Tea', kind: 'food', nativeCurrency: 'USD' },
    unit: { quantity: 1, of: 'kg' },
  };
  test.each<[string, object, string, string]>([
    // An address is not repeated: reports are stored.
    ['an e-mail address', { name: 'jo@example.org' }, '/name', 'name: '],
  ])('%s', (_, change, pointer, beginning) => {
    const parsed = parseRecord({ ...market, ...change });
    const [fault] = 'errors' in parsed ? parsed.errors : [];
    expect(fault).toMatchObject({ code: 'record.invalid', pointer });
    expect(fault?.detail.startsWith(beginning)).toBe(true);
    expect(fault?.detail.length).toBeGreaterThan(beginning.length + 10);
  });

  test('a URL with a password, without repeating it', () => {
    const source = {
      label: 'A',
      url: 'https://jo:hunter2@example.org/',
      publisher: null,
      licence: null,
      attribution: null,
    };
    const parsed = parseRecord({ ...market, sources: [source] });
    expect('errors' in parsed && parsed.errors[0]?.pointer).toBe('/sources/0/url');
    expect(JSON.stringify(parsed)).not.toContain('hunter2');
  });
});
