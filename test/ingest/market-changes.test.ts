/** What batches change of one market: its record, its marks, and what is checked at the commit. */
import { describe, expect, test } from 'vitest';
import type { IngestMode, IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { marketPartition } from '../../storage/records/markets.ts';
import { FRESH_MARKS } from '../../storage/records/publication.ts';
import { market, price } from '../publisher/world.ts';
import { openDesk } from './desk.ts';

const day = (number: number) => new Date(Date.UTC(2026, 0, 1 + number)).toISOString();
const named = (fields: object): unknown => ({ ...market('a'), ...fields });

/** The changes of the last batch that concern the market or its marks. */
async function changesOf(known: readonly unknown[], records: readonly unknown[], mode: IngestMode = 'append') {
  const desk = openDesk();
  if (known.length > 0) await desk.send(known);
  const from = desk.ledger.changes.length;
  await desk.send(records, { mode, partial: true });
  const changes = desk.ledger.changes.slice(from);
  return {
    own: changes.filter(({ key }) => key.partition === marketPartition('a')),
    marks: changes.filter(({ key }) => FRESH_MARKS.shards.includes(key.partition)).map(({ key }) => key.sort),
  };
}

describe('an unchanged or refused row changes nothing', () => {
  test.each<[string, IngestRecordInput, IngestMode, readonly string[]]>([
    ['the same definition: it must still be so', market('a'), 'append', ['record']],
    ['the same price', price('a', 0, 1), 'append', []],
    ['the same price in a correcting batch: it must be the newest', price('a', 0, 1), 'correct', ['the next version']],
    ['a conflict: as above', price('a', 0, 2), 'append', ['the next version', 'record']],
    ['a refused definition: the market must still be so', market('a', 'EUR'), 'append', ['record']],
  ])('%s', async (_, record, mode, checked) => {
    const { own, marks } = await changesOf([market('a'), price('a', 0, 1)], [record], mode);
    expect(marks).toEqual([]);
    expect(own.every(({ kind }) => kind === 'check')).toBe(true);
    expect(own.map(({ key }) => (key.sort.endsWith('/0001') ? 'the next version' : key.sort))).toEqual(checked);
  });
});

describe('closed pages are marked exactly if a row is not appended', () => {
  const known = [market('a'), price('a', 3, 3), price('a', 5, 5)];
  const correct = 'correct' as const;

  test.each<[title: string, records: readonly unknown[], fromDay: number | null, mode?: IngestMode]>([
    ['an append', [price('a', 6, 6)], null],
    ['two appends, the newer one first', [price('a', 8, 8), price('a', 7, 7)], null],
    ['a redefinition', [named({ name: 'Other' })], null],
    ['an unchanged row', [price('a', 3, 3)], null],
    ['an older observation', [price('a', 4, 4)], 4],
    ['an append and two older ones: from the oldest on', [price('a', 6, 6), price('a', 4, 4), price('a', 1, 1)], 1],
    ['a correction of the newest', [price('a', 5, 55)], 5, correct],
    ['a correction of an older one', [price('a', 3, 33), price('a', 6, 6)], 3, correct],
  ])('%s', async (_, records, fromDay, mode) => {
    const { own, marks } = await changesOf(known, records, mode);
    const histories = marks.filter((sort) => sort.startsWith('history/'));
    expect(histories.map((sort) => sort.split('/')[2])).toEqual(fromDay === null ? [] : [day(fromDay)]);
    expect(marks.includes('market/a')).toBe(own.length > 0);
  });

  test('the first batch of a market marks no page, in any order of rows', async () => {
    const { marks } = await changesOf([], [market('a'), price('a', 3, 3), price('a', 1, 1)]);
    expect(marks).toEqual(['market/a']);
  });
});

describe('the sources of a market', () => {
  const bank = { label: 'A bank', url: 'https://bank.example', publisher: null, licence: null, attribution: null };
  const cadence = { graceSeconds: 0, holidays: [], minutes: 5, period: 'minutes', weekdays: ['mon'] };
  const timed = { ...bank, cadence };

  test.each<[string, readonly object[], readonly object[]]>([
    ['are none at first', [{}], []],
    ['stay if a later definition leaves them out', [{ sources: [bank] }, { name: 'Other' }], [bank]],
    ['go if it gives an empty list', [{ sources: [bank] }, { sources: [] }], []],
    ['keep their cadence', [{ sources: [timed] }, { name: 'Other' }], [timed]],
    ['lose their cadence with it', [{ sources: [timed] }, { sources: [bank] }], [bank]],
    ['may get a cadence later', [{ sources: [bank] }, { sources: [timed] }], [timed]],
    ['without a cadence have none', [{ sources: [{ ...bank, cadence: null }] }], [bank]],
  ])('%s', async (_, definitions, sources) => {
    const desk = openDesk();
    for (const fields of definitions) await desk.send([named(fields)]);
    expect((await desk.record()).sources).toEqual(sources);
  });

  test('without a cadence are the same as with null for it', async () => {
    const desk = openDesk();
    await desk.send([named({ sources: [bank] })]);
    expect(await desk.outcome(named({ sources: [{ ...bank, cadence: null }] }))).toBe('unchanged');
  });
});

test('of several sources at one moment, the one with the greatest digest of its URL is shown, in any order of arrival', async () => {
  const urls = ['one', 'two', 'three', 'four'].map((name) => `https://example.com/${name}`);
  const greatest = urls.toSorted((left, right) => (sha256Hex(left) < sha256Hex(right) ? 1 : -1))[0];
  for (const arrival of [urls, urls.toReversed()]) {
    const desk = openDesk();
    await desk.send([market('a')]);
    for (const sourceUrl of arrival) await desk.send([{ ...price('a', 0, 5000), sourceUrl }]);
    expect((await desk.record()).latest.price?.metric.sourceUrl).toBe(greatest);
  }
});
