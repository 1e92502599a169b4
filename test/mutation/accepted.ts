/** Mutants that no test need find, each with the reason. */
interface Accepted {
  readonly file: string;
  /** The code that the mutant puts in the place of ours. */
  readonly replacement: string;
  /** A part of our line, where the replacement alone is not exact. */
  readonly original?: string;
  readonly reason: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    file: 'contract/money.ts',
    replacement: '["Stryker was here"]',
    original: 'DECIMAL.exec(decimal)',
    reason: 'equivalent: without a power, the text is returned as it is',
  },
  {
    file: 'contract/problem-words.ts',
    replacement: '{}',
    original: ': {',
    reason: 'texts for people; the compiler refuses a problem without them',
  },
  {
    file: 'contract/public-text.ts',
    replacement: 'false',
    original: 'if (PLAIN_ASCII.test(text)) return text',
    reason: 'equivalent: such a text has no invisible character, so this only saves time',
  },
  {
    file: 'contract/zod-pointers.ts',
    replacement: 'true',
    original: 'branch.length > 0',
    reason: 'equivalent: a branch without a fault is taken, so it has no issue',
  },
  {
    file: 'mapping/begin/column-profile.ts',
    replacement: 'dateReaders[index](text)',
    reason: 'equivalent: each index is one of the list',
  },
  {
    file: 'mapping/begin/column-profile.ts',
    replacement: '"Stryker was here!"',
    original: 'SIGNED.exec(written)',
    reason: 'equivalent: the pattern matches each text, so no default is used',
  },
  {
    file: 'mapping/begin/draft-date.ts',
    replacement: '"Stryker was here!"',
    original: 'columnOf(date, added?.name',
    reason: 'equivalent: a table with its dates in the header has an added column',
  },
  {
    file: 'mapping/begin/guess-columns.ts',
    replacement: '["Stryker was here"]',
    original: 'column.distinct?.keys()',
    reason: 'equivalent: one text is as little a column of times as none is',
  },
  {
    file: 'mapping/begin/guess-columns.ts',
    replacement: 'true',
    original: 'code.length === 3 &&',
    reason: 'equivalent: each known code has three letters',
  },
  {
    file: 'mapping/begin/guess-market-columns.ts',
    replacement: 'false',
    original: 'column === null ? [] : [places.get(column)',
    reason: 'equivalent: each row has the same undefined cell more',
  },
  {
    file: 'mapping/begin/json-table.ts',
    replacement: 'first.members',
    reason: 'equivalent: it is called with two parts or more',
  },
  {
    file: 'mapping/check/check-mapping.ts',
    replacement: '["Stryker was here"]',
    original: 'let unpivoted',
    reason: 'equivalent: the header comes before each use, or there is none to compare with',
  },
  {
    file: 'mapping/check/count-observations.ts',
    replacement: 'false',
    original: 'first === undefined ||',
    reason: 'equivalent: the first moment is missing where the last one is',
  },
  {
    file: 'mapping/csv-input.ts',
    replacement: 'characters >= most',
    reason: 'the limit protects memory: one character of 16 million does not matter',
  },
  {
    file: 'mapping/json-document.ts',
    replacement: 'true',
    original: 'error instanceof Refused',
    reason: 'equivalent: nothing else is thrown there',
  },
  {
    file: 'mapping/number-format.ts',
    replacement: '["Stryker was here"]',
    original: 'pattern.exec(text)',
    reason: 'equivalent: the digits are missing all the same',
  },
  {
    file: 'mapping/recipe/recipe-url.ts',
    replacement: 'false',
    original: "url.password !== ''",
    reason: 'only the text of a message: such a URL does not begin with its host either, which is refused below',
  },
  {
    file: 'mapping/row-columns.ts',
    replacement: 'true',
    original: 'withoutInvisible(value) !== value',
    reason: 'only the text of a message',
  },
  {
    file: 'mapping/zone-clock.ts',
    replacement: 'false',
    original: 'before === offsetAt(',
    reason: 'the same moments, found without the offsets that are kept: slower',
  },
];
