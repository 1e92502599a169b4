/** Begins mappings for files that tests write out. */
import { type ParseError, parse } from 'jsonc-parser';
import { expect } from 'vitest';
import { beginMapping } from '../../mapping/begin/begin-mapping.ts';

export const FILL_IN = expect.stringMatching(/^FILL IN/);

export async function begun(file: string | Uint8Array, name = 'prices.csv') {
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file;
  return beginMapping(
    (async function* () {
      yield bytes;
    })(),
    name,
  );
}

/** The text, its document without comments, and the pointers that wait for a decision. */
export async function begin(file: string | Uint8Array, name?: string) {
  const result = await begun(file, name);
  if ('fault' in result) throw new Error(result.fault);
  const errors: ParseError[] = [];
  const document = parse(result.text, errors, { allowTrailingComma: false });
  expect(errors).toEqual([]);
  return { text: result.text, document, toFill: result.toFill.map(({ pointer }) => pointer) };
}

/** As a person does who decides nothing about numbers. */
export function filledIn(text: string): string {
  return text
    .replaceAll(/"(url|sourceUrl)": "FILL IN[^"]*"/g, '"$1": "https://example.org/"')
    .replaceAll(/"currency": "FILL IN[^"]*"/g, '"currency": "USD"')
    .replace(/"confidence": "FILL IN[^"]*"/, '"confidence": "high"')
    .replace(/"early": "FILL IN(?:\\.|[^"\\])*"/, '"early": "confirmed"')
    .replaceAll(/"FILL IN[^"]*"/g, '"gold"');
}

export const days = (count: number) =>
  Array.from({ length: count }, (_, day) => `2026-01-${String(day + 1).padStart(2, '0')}`);
