/** A small mapping that uses every part of the format, for tests to change. */
export const exampleMapping: unknown = {
  match: ['item', 'currency'],
  tables: [
    { key: '{item}', columns: ['itemName'], rows: { tea: ['Tea'], coffee: ['Coffee'] } },
    {
      key: '{currency}',
      columns: ['code'],
      rows: { yen: ['JPY'], dinar: ['KWD'], pence: ['GBX'], barter: ['two hens'] },
      otherwise: ['USD'],
    },
  ],
  market: {
    slug: '{item}-{currency}',
    name: '{itemName}, {code}',
    kind: 'food',
    nativeCurrency: '{code}',
    unit: { quantity: '10', of: 'kg' },
    sources: [{ label: 'Shop', url: 'https://example.org/{item}', publisher: 'A shop', licence: 'CC0-1.0' }],
  },
  observation: {
    value: { column: 'price', quotedQuantity: '1', rounding: 'nearest', blank: { unknownReason: 'not-published' } },
    currency: '{code}',
    date: {
      column: 'day',
      format: 'YYYY-MM-DD',
      precision: 'day',
      whenBlank: { column: 'version', format: 'YYYY.M.D' },
    },
    sourceLabel: 'Shop, {observedDate}',
    sourceUrl: 'https://example.org/{observedDate}?item={item}',
    confidence: { column: 'flag', values: { actual: 'high', guess: 'low' } },
    status: 'final',
  },
  withhold: [{ where: { item: ['tea'], day: ['2026-01-03'] }, reason: 'The shop printed the price of coffee.' }],
};

/** A copy with another value at a path, or without it (undefined). */
export function withChange(document: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(document);
  const parts = path.slice(1).split('/');
  const last = parts.pop() as string;
  let parent = copy as Record<string, unknown>;
  for (const part of parts) parent = parent[part] as Record<string, unknown>;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
