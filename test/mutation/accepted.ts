/** Mutants that no test need find, by file. */
type Accepted = readonly [
  /** The code that the mutant puts in the place of ours. */
  replacement: string,
  /** A part of our line, where the replacement alone is not exact. */
  original: string | null,
  reason: string,
];

export const ACCEPTED: Readonly<Record<string, readonly Accepted[]>> = {
  'contract/values/money/money.ts': [
    ['["Stryker was here"]', 'DECIMAL.exec(decimal)', 'equivalent: without a power, the text is returned as it is'],
  ],
  'contract/problems/problem-words.ts': [
    ['{}', ': {', 'texts for people; the compiler refuses a problem without them'],
  ],
  'contract/values/public-text.ts': [
    [
      'false',
      'if (PLAIN_ASCII.test(text)) return text',
      'equivalent: such a text has no invisible character, so this only saves time',
    ],
    ['false', 'withoutSlashes === text', 'equivalent: the same text would only be searched twice'],
  ],
  'contract/values/zod-pointers.ts': [
    ['true', 'branch.length > 0', 'equivalent: a branch without a fault is taken, so it has no issue'],
  ],
  'lambdas/markets/rules/amount-rules.ts': [
    ['""', "'more than 2^53−1'", 'only the text of a message'],
    ['false', 'return quantity === 1 ? text', 'only the text of a message'],
    [
      'false',
      'right.amountMinor === amountMinor',
      'equivalent: this amount is the nearest one, which is found without it',
    ],
  ],
  'lambdas/markets/commit-markets.ts': [
    ['decision.record', 'if (decision?.record == null) return 0', 'equivalent: each planned market has a part'],
  ],
  'lambdas/markets/decide.ts': [
    [
      'true',
      'const order = before === undefined ? first :',
      'equivalent: the size of the record counts, and all orders are of one length',
    ],
  ],
  'lambdas/markets/rules/neighbours.ts': [
    [
      'true',
      '!isWithoutValue(record)',
      'equivalent: an unknown value differs from no neighbour; this only saves reads',
    ],
    [
      'false',
      "order === null || record.type === 'market'",
      'equivalent: each definition of a market, and no other row, has no order',
    ],
    [
      "order === null && record.type === 'market'",
      null,
      'equivalent: each definition of a market, and no other row, has no order',
    ],
  ],
  'lambdas/markets/observation-value.ts': [
    ['value.lastOrder <= order', null, 'equivalent: an equal order is put in the place of itself'],
  ],
  'lambdas/markets/rules/outlier.ts': [
    [
      'false',
      'rows.length === 0 || known.length === 0',
      'equivalent: merging an empty list with a list that is in order gives that list',
    ],
  ],
  'lambdas/markets/record-size.ts': [
    [
      'Buffer.byteLength(JSON.stringify({\n  ...value,\n  standing: undefined\n})) >= RECORD_BYTES_MAX',
      null,
      'the limit protects the ledger, and leaves room: one byte does not matter',
    ],
  ],
  'lambdas/markets/removal.ts': [['false', "replacedBy === null ? 'use another slug'", 'only the text of a message']],
  'lambdas/markets/rows.ts': [['left <= right', null, 'equivalent: equal ones were told apart before']],
  'mapping/check/check-mapping.ts': [
    [
      '["Stryker was here"]',
      'let unpivoted',
      'equivalent: the header comes before each use, or there is none to compare with',
    ],
  ],
  'mapping/input/csv-input.ts': [
    ['characters >= most', null, 'the limit protects memory: one character of 16 million does not matter'],
  ],
  'mapping/input/json-document.ts': [['true', 'error instanceof Refused', 'equivalent: nothing else is thrown there']],
  'mapping/values/number-format.ts': [
    ['["Stryker was here"]', 'pattern.exec(text)', 'equivalent: the digits are missing all the same'],
  ],
  'mapping/recipe/recipe-url.ts': [
    [
      'false',
      "url.password !== ''",
      'only the text of a message: such a URL does not begin with its host either, which is refused below',
    ],
  ],
  'mapping/input/row-columns.ts': [['true', 'withoutInvisible(value) !== value', 'only the text of a message']],
  'mapping/values/zone-clock.ts': [
    ['false', 'before === offsetAt(', 'the same moments, found without the offsets that are kept: slower'],
  ],
  'publisher/projections/exports/part-file.ts': [
    [';', 'this.#writeGroup()', 'the same file: groups are cut once more when they are written; only takes memory'],
    ['false', 'this.#writeGroup()', 'the same file: groups are cut once more when they are written; only takes memory'],
    ['""', 'createdBy', 'no program reads who has written a file'],
  ],
  'publisher/core/plan-generation.ts': [
    [
      'false',
      'log === null || logState === undefined',
      'equivalent: a log that is written has a state; the compiler does not know it',
    ],
  ],
  'publisher/dependencies.ts': [['markets < UNPACED_MARKETS', null, 'one market of 10,000 does not matter']],
  'publisher/entry/export.ts': [['""', "logOutcome('exported'", 'only the text of a line of the log']],
  'publisher/repair/from-log/market-records.ts': [
    [
      'true',
      'isReset: false }).logged',
      'equivalent: where nothing was published, a reset changes nothing that the log is said to have',
    ],
  ],
  'publisher/kernel/apply.ts': [
    ['true', 'if (batch.length > 0) yield batch', 'an empty batch changes nothing: only costs a transaction'],
  ],
};
