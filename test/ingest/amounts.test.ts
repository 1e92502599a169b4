/** Amounts against the digits of their source: each row is one observation of a market, as a feed sends it. */
import { describe, expect, test } from 'vitest';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { market, price } from '../publisher/world.ts';
import { openDesk } from './desk.ts';

/** A market buys this much, in this currency; by default, one unit in US dollars. */
type Case = [title: string, fields: object, outcome: string, of?: string];

async function expectOutcome([_, fields, outcome, of = '1 USD']: Case): Promise<void> {
  const [quantity, currency] = of.split(' ');
  expect(await outcomeOf(currency as string, Number(quantity), fields)).toBe(outcome);
}

/** The stored price as `amount (source's digits)`, with `~` if it is rounded; or `code pointer` of the refusal. */
async function outcomeOf(currency: string, quantity: number, fields: object): Promise<string> {
  const desk = openDesk();
  const definition = { ...market('a', currency), unit: { quantity, of: 'unit' } } as IngestRecordInput;
  const { amountMinor, sourceValue, ...record } = price('a', 0, 1, currency) as never as Record<string, unknown>;
  const { taken, faults } = await desk.send([definition, { ...record, ...fields }]);
  expect(faults.every(({ detail }) => detail.length > 20)).toBe(true);
  if (!taken) return faults.map(({ code, pointer }) => `${code} ${pointer}`).join(', ');
  const stored = (await desk.record()).latest.price?.metric;
  expect(await desk.outcome({ ...record, ...fields })).toBe('unchanged');
  if (stored?.kind !== 'money') throw new TypeError('a price is money');
  return `${stored.rounded ? '~' : ''}${stored.amountMinor} (${stored.sourceValue})`;
}

const DISAGREES = 'amount.disagrees-with-source /amountMinor';
const LIES = 'amount.disagrees-with-source /rounded';

describe('an amount in minor units', () => {
  test.each<Case>([
    ['agrees with its source', { amountMinor: 150, sourceValue: '1.5' }, '150 (1.5)'],
    ['has a decimal too few', { amountMinor: 15, sourceValue: '1.5' }, DISAGREES],
    ['has another sign', { amountMinor: 3698, sourceValue: '-36.98' }, DISAGREES],
    ['is rounded and does not say so', { amountMinor: 4130, sourceValue: '41.29999', rounded: false }, LIES],
    ['is not rounded and says so', { amountMinor: 4130, sourceValue: '41.300', rounded: true }, LIES],
    ['is rounded', { amountMinor: 4130, sourceValue: '41.29999', rounded: true }, '~4130 (41.29999)'],
    ['is truncated', { amountMinor: 4129, sourceValue: '41.29999', rounded: true }, DISAGREES],
    ['is half rounded up, as in some sources', { amountMinor: 3, sourceValue: '0.025', rounded: true }, '~3 (0.025)'],
    ['is half rounded to even', { amountMinor: 2, sourceValue: '0.025', rounded: true }, '~2 (0.025)'],
    ['is unknown', { amountMinor: null, unknownReason: 'withheld', sourceValue: '1.5' }, 'null (1.5)'],
    ['may have digits for one', { amountMinor: 3_669_000, sourceValue: '366.9' }, '3669000 (366.9)', '100 HUF'],
    ['may not have digits for others', { amountMinor: 366_900, sourceValue: '366.9' }, DISAGREES, '100 HUF'],
    ['is for what it names', { amountMinor: 36_690, sourceValue: '366.9', quotedQuantity: 1 }, DISAGREES, '100 HUF'],
    ['keeps the exponent', { amountMinor: 16, sourceValue: '1.6e-05', quotedQuantity: 1 }, '16 (1.6e-05)', '10000 USD'],
    ['has an exponent that nothing can hold', { amountMinor: 1, sourceValue: '1e999' }, DISAGREES],
    ['may be for 10^15', { amountMinor: 1, sourceValue: '1e-17', quotedQuantity: 1 }, '1 (1e-17)', `${10 ** 15} USD`],
    ['not for more', { amountMinor: 1, sourceValue: '1', quotedQuantity: 1e15 + 1 }, 'record.invalid /quotedQuantity'],
  ])('that %s', async (...row) => await expectOutcome(row));
});

test('a refused amount that is for another quantity than the one of its market says the division', async () => {
  const { amountMinor, sourceValue, ...record } = price('a', 0, 1, 'USD') as never as Record<string, unknown>;
  const quoted = { ...record, amountMinor: 6303, sourceValue: '63.03', rounded: false, quotedQuantity: 1000 };
  const { faults } = await openDesk().send([market('a', 'USD'), quoted]);
  expect(faults.map(({ detail }) => detail)).toEqual([
    '63.03 USD is 6 if it buys 1000 (× 1 ÷ 1000) in minor units: USD has 2 decimals, and the market quotes for 1',
  ]);
});

describe('a decimal instead of minor units', () => {
  test.each<Case>([
    ['with an exponent, which is kept', { value: '1.6e-05', quotedQuantity: 1 }, '16 (1.6e-05)', '10000 USD'],
    ['of an exponent and of plain digits', { value: '1.5', sourceValue: '15e-1' }, '150 (15e-1)'],
    ['as a zero with an exponent', { value: '0e5' }, 'amount.zero-unasserted /value'],
    ['in yen, rounded', { value: '162.675' }, '~163 (162.675)', '1 JPY'],
    ['in dinar', { value: '0.307' }, '307 (0.307)', '1 KWD'],
    ['for one, of 1,000', { value: '162.67516375', quotedQuantity: 1 }, '~162675 (162.67516375)', '1000 JPY'],
    ['as unknown', { value: null, unknownReason: 'not-published' }, 'null (null)'],
    ['as an asserted zero', { value: '0.00', zeroAsserted: true }, '0 (0.00)'],
    ['of an unnamed quantity', { value: '162.7' }, 'provenance.incomplete /quotedQuantity', '1000 JPY'],
    ['with other digits as source', { value: '1.5', sourceValue: '-1.5' }, 'amount.disagrees-with-source /value'],
    ['as a zero', { value: '0.00' }, 'amount.zero-unasserted /value'],
    ['that rounds to zero', { value: '0.001' }, 'amount.zero-unasserted /value'],
    ['beyond what amounts can hold', { value: '90071992547409.92' }, 'amount.out-of-range /value'],
    ['as a number of JSON', { value: 36.69 }, 'record.invalid /value'],
    ['with an amount as well', { value: '1.5', amountMinor: 150 }, 'record.invalid /value'],
    ['with a claim to be exact', { value: '1.5', rounded: false }, 'record.invalid /rounded'],
  ])('%s', async (...row) => await expectOutcome(row));
});

test('a file that is sent again keeps an exponent that an earlier version wrote out', async () => {
  const desk = openDesk();
  const { amountMinor, sourceValue, ...record } = price('a', 0, 1, 'USD') as never as Record<string, unknown>;
  const of = (digits: string) => ({ ...record, amountMinor: 1600, sourceValue: digits, rounded: false });
  await desk.send([market('a', 'USD'), of('16.00')]);
  expect(await desk.outcome(of('1600e-2'))).toBe('unchanged');
  expect(await desk.outcome(of('16.0'))).toBe('conflict.existing');
});

describe('a market that keeps its unit', () => {
  const decimal = (value: string, day: number, fields: object = {}) => {
    const { amountMinor, sourceValue, ...record } = price('a', day, 1, 'USD') as never as Record<string, unknown>;
    return { ...record, value, quotedQuantity: 1, exact: true, ...fields };
  };
  const defined = (quantity: number) => ({ ...market('a', 'USD'), unit: { quantity, of: 'token' }, keepUnit: true });

  test('refuses the value that does not fit before it rounds it', async () => {
    const desk = openDesk();
    const send = (...records: readonly unknown[]) => desk.send(records);
    const stored = async () => {
      const { unit, latest } = await desk.record();
      return [unit.quantity, latest.price?.metric];
    };
    expect((await send(defined(10), decimal('0.001', 0))).faults).toEqual([]);
    // The next file has a smaller price, so its own quantity is larger.
    const { faults } = await send(defined(1000), decimal('0.00001', 1));
    expect(faults.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(['amount.not-integral /value']);
    expect((await send(defined(1000), decimal('0.002', 1))).faults).toEqual([]);
    expect(await stored()).toEqual([10, expect.objectContaining({ amountMinor: 2, rounded: false })]);
    expect((await send(defined(1000), decimal('0.0024', 2, { exact: false }))).faults).toEqual([]);
    expect(await stored()).toEqual([
      10,
      expect.objectContaining({ amountMinor: 2, rounded: true, sourceValue: '0.0024' }),
    ]);
  });

  test('may be defined anew before its first observation, and not after it without saying so', async () => {
    const desk = openDesk();
    const send = async (...records: readonly unknown[]) => (await desk.send(records)).faults.map(({ code }) => code);
    expect(await send(defined(10))).toEqual([]);
    expect(await send(defined(1000), decimal('0.00001', 0))).toEqual([]);
    const { keepUnit, ...fixed } = defined(10);
    expect(await send(fixed)).toEqual(['conflict.existing']);
  });
});
