/** The cells of CSV: no program that opens a file takes a text for a formula. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvRecord } from '../../contract/values/csv.ts';
import { formulasIn } from '../formulas-in.ts';

test.each([
  ['Ordinary data; a note, 5-10 % @ noon', '"Ordinary data; a note, 5-10 % @ noon"'],
  ['https://example.com/?a=1&b=-1;c', 'https://example.com/?a=1&b=-1;c'],
  ['-1.50', '-1.50'],
  ['=1+1', "'=1+1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['x;=1+1', "x;'=1+1"],
  ['x;＝1+1;@A1', "x;'＝1+1;'@A1"],
  ['x;"=1+1', `"x;""'=1+1"`],
  ['x\t=1+1', "x\t'=1+1"],
  ['x\r=1+1', `"x\r'=1+1"`],
  ['x\n-1+1', `"x\n'-1+1"`],
  ['\t=1+1', "'\t'=1+1"],
])('the text %j is written as %j', (text, written) => {
  expect(csvRecord([text])).toBe(written);
});

test('numbers of any form stay as they are', () => {
  expect(csvRecord([-1, -1e-7, true, null, undefined])).toBe('-1,-1e-7,true,,');
});

test('no text begins a cell with a sign of formulas, whichever separator a program takes', () => {
  const part = fc.constantFrom(...'=+-@＝＋－＠;,"\'|\t\r\n a1', '""', ';"', '\r\n');
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  const record = fc.array(text, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(record, (cells) => {
      expect(formulasIn(csvRecord(['slug', ...cells]))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
