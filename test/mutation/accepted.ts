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
    file: 'contract/values/money.ts',
    replacement: '["Stryker was here"]',
    original: 'DECIMAL.exec(decimal)',
    reason: 'equivalent: without a power, the text is returned as it is',
  },
  {
    file: 'contract/problems/problem-words.ts',
    replacement: '{}',
    original: ': {',
    reason: 'texts for people; the compiler refuses a problem without them',
  },
  {
    file: 'contract/values/public-text.ts',
    replacement: 'false',
    original: 'if (PLAIN_ASCII.test(text)) return text',
    reason: 'equivalent: such a text has no invisible character, so this only saves time',
  },
  {
    file: 'contract/values/zod-pointers.ts',
    replacement: 'true',
    original: 'branch.length > 0',
    reason: 'equivalent: a branch without a fault is taken, so it has no issue',
  },
  {
    file: 'lambdas/markets/amount-rules.ts',
    replacement: '""',
    original: "'more than 2^53−1'",
    reason: 'only the text of a message',
  },
  {
    file: 'lambdas/markets/amount-rules.ts',
    replacement: 'false',
    original: 'return quantity === 1 ? text',
    reason: 'only the text of a message',
  },
  {
    file: 'lambdas/markets/commit-markets.ts',
    replacement: 'decision.record',
    original: 'if (decision?.record == null) return 0',
    reason: 'equivalent: each planned market has a part',
  },
  {
    file: 'lambdas/markets/decide.ts',
    replacement: 'true',
    original: 'const order = before === undefined ? first :',
    reason: 'equivalent: the size of the record counts, and all orders are of one length',
  },
  {
    file: 'lambdas/markets/neighbours.ts',
    replacement: 'false',
    original: "order === null || record.type === 'market'",
    reason: 'equivalent: each definition of a market, and no other row, has no order',
  },
  {
    file: 'lambdas/markets/neighbours.ts',
    replacement: "order === null && record.type === 'market'",
    reason: 'equivalent: each definition of a market, and no other row, has no order',
  },
  {
    file: 'lambdas/markets/observation-value.ts',
    replacement: 'value.lastOrder <= order',
    reason: 'equivalent: an equal order is put in the place of itself',
  },
  {
    file: 'lambdas/markets/outlier-guard.ts',
    replacement: 'false',
    original: 'rows.length === 0 || known.length === 0',
    reason: 'equivalent: merging an empty list with a list that is in order gives that list',
  },
  {
    file: 'lambdas/markets/record-size.ts',
    replacement: 'Buffer.byteLength(JSON.stringify({\n  ...value,\n  standing: undefined\n})) >= RECORD_BYTES_MAX',
    reason: 'the limit protects the ledger, and leaves room: one byte does not matter',
  },
  {
    file: 'lambdas/markets/removal.ts',
    replacement: 'false',
    original: "replacedBy === null ? 'use another slug'",
    reason: 'only the text of a message',
  },
  {
    file: 'lambdas/markets/rows.ts',
    replacement: 'left <= right',
    reason: 'equivalent: equal ones were told apart before',
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
    file: 'mapping/input/csv-input.ts',
    replacement: 'characters >= most',
    reason: 'the limit protects memory: one character of 16 million does not matter',
  },
  {
    file: 'mapping/input/json-document.ts',
    replacement: 'true',
    original: 'error instanceof Refused',
    reason: 'equivalent: nothing else is thrown there',
  },
  {
    file: 'mapping/values/number-format.ts',
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
    file: 'mapping/input/row-columns.ts',
    replacement: 'true',
    original: 'withoutInvisible(value) !== value',
    reason: 'only the text of a message',
  },
  {
    file: 'mapping/values/zone-clock.ts',
    replacement: 'false',
    original: 'before === offsetAt(',
    reason: 'the same moments, found without the offsets that are kept: slower',
  },
  ...[';', 'false'].map((replacement) => ({
    file: 'publisher/projections/exports/write-parquet.ts',
    replacement,
    original: 'this.#writeGroup()',
    reason: 'the same file: groups are cut once more when they are written; only takes memory',
  })),
  {
    file: 'publisher/projections/exports/write-parquet.ts',
    replacement: '""',
    original: 'createdBy',
    reason: 'no program reads who has written a file',
  },
  {
    file: 'publisher/core/plan-generation.ts',
    replacement: 'false',
    original: 'log === null || logState === undefined',
    reason: 'equivalent: a log that is written has a state; the compiler does not know it',
  },
  {
    file: 'publisher/dependencies.ts',
    replacement: 'markets < UNPACED_MARKETS',
    reason: 'one market of 10,000 does not matter',
  },
  {
    file: 'publisher/entry/export.ts',
    replacement: '""',
    original: "logOutcome('exported'",
    reason: 'only the text of a line of the log',
  },
  {
    file: 'publisher/repair/from-log/market-records.ts',
    replacement: 'true',
    original: 'isReset: false }).logged',
    reason: 'equivalent: where nothing was published, a reset changes nothing that the log is said to have',
  },
  {
    file: 'publisher/kernel/apply.ts',
    replacement: 'true',
    original: 'if (batch.length > 0) yield batch',
    reason: 'an empty batch changes nothing: only costs a transaction',
  },
];
