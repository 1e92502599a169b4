import { describe, expect, test } from 'vitest';
import { parseRecipe, parseRecipeText } from '../../../mapping/recipe/recipe.ts';
import { exampleMapping, withChange } from '../example-mapping.ts';

const example = {
  name: 'shop-prices',
  description: 'The prices of the shop.',
  url: 'https://example.org/prices/{date}.csv',
  hosts: ['example.org'],
  schedule: { at: ['16:30'], timeZone: 'Europe/Berlin' },
  mapping: exampleMapping,
};

/** Where the faults of the example are, after one change. */
function pointersAfter(path: string, value: unknown): string[] {
  const result = parseRecipe(withChange(example, path, value));
  return 'faults' in result ? result.faults.map(({ pointer }) => pointer) : [];
}

describe('a recipe', () => {
  test('that is right is taken, with its defaults', () => {
    expect(parseRecipe(example)).toMatchObject({
      recipe: {
        schedule: { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] },
        mapping: { csv: { delimiter: ',' } },
        publisher: null,
        licence: null,
        attribution: null,
        limits: { maxBytes: 16_777_216, timeoutSeconds: 60 },
      },
    });
  });

  test('that was taken is taken again as it is, so that it can be stored', () => {
    const first = parseRecipe(example);
    expect(parseRecipe(JSON.parse(JSON.stringify('recipe' in first && first.recipe)))).toEqual(first);
  });

  test.each<[string, string, unknown, string]>([
    ['an unknown field', '/secret', 'x', '/secret'],
    ['a name with a space', '/name', 'shop prices', '/name'],
    ['a URL in the clear', '/url', 'http://example.org/a', '/url'],
    ['a password', '/url', 'https://me:secret@example.org/a', '/url'],
    ['an API key', '/url', 'https://example.org/a?api_key=1234', '/url'],
    ['a port', '/url', 'https://example.org:8443/a', '/url'],
    ['a fragment', '/url', 'https://example.org/a#b', '/url'],
    ['a host in capitals', '/url', 'https://Example.org/a', '/url'],
    ['another placeholder', '/url', 'https://example.org/{day}', '/url'],
    ['a host that varies', '/url', 'https://{date}.example.org/', '/url'],
    ['a host that is not allowed', '/url', 'https://example.com/a', '/url'],
    ['eleven hosts', '/hosts', Array.from({ length: 11 }, (_, index) => `h${index}.example.org`), '/hosts'],
    ['an address for a host', '/hosts', ['example.org', '127.0.0.1'], '/hosts/1'],
    ['a name of one label', '/hosts', ['example.org', 'localhost'], '/hosts/1'],
    ['a wildcard', '/hosts', ['example.org', '*.example.org'], '/hosts/1'],
    ['a limit above all limits', '/limits', { maxBytes: 67_108_865 }, '/limits/maxBytes'],
    ['a fault of the mapping’s shape', '/mapping/match', undefined, '/mapping/match'],
    ['a fault of the mapping’s references', '/mapping/market/slug', '{price}', '/mapping/market/slug'],
    ['a brace in a text for readers', '/attribution', 'The {shop}', '/attribution'],
    ['a decision that waits', '/licence', 'FILL IN: the licence', '/licence'],
  ])('with %s is refused there', (_, path, value, pointer) => {
    expect(pointersAfter(path, value)).toEqual([pointer]);
  });

  test('reports all faults at once, with their lines', () => {
    const text = `{ // of a shop
  "name": "shop prices",
  "url": "http://example.org/",
  "hosts": ["example.org"],
  "schedule": { "at": ["9:30"] },
}`;
    const result = parseRecipeText(text);
    expect('faults' in result && result.faults.map(({ pointer, line }) => [pointer, line])).toEqual([
      ['/name', 2],
      ['/description', 1],
      ['/schedule/at/0', 5],
      ['/mapping', 1],
      ['/url', 3],
    ]);
  });

  test.each(['', '[]', 'null', '{"name": }'])('is not %j', (text) => {
    expect(parseRecipeText(text)).toHaveProperty('faults');
  });
});
