/** The mapping of a CSV file with the columns `date` and `price`: the prices of one market in EUR. */
export const mappingOf = (slug: string) => ({
  match: [],
  market: {
    ...{ slug, name: slug, kind: 'food', nativeCurrency: 'EUR', unit: { quantity: '1', of: 'kg' } },
    sources: [{ label: 'Shop', url: 'https://example.org/', publisher: null, licence: 'CC0-1.0' }],
  },
  observation: {
    ...{ value: { column: 'price', rounding: 'refuse' }, currency: 'EUR', status: 'final', confidence: 'high' },
    date: { column: 'date', format: 'YYYY-MM-DD', precision: 'day' },
    ...{ sourceLabel: 'Shop', sourceUrl: 'https://example.org/' },
  },
});
