/** The fold: from entries to records; and entries that contradict each other. */
import { describe, expect, test } from 'vitest';
import { entryText, type LogEntry, type ObservationEntry } from '../../../contract/log/entries.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { type Folded, LogFold } from '../../../publisher/core/log/fold.ts';
import { observationId } from '../../../storage/records/markets.ts';

const MARKET: LogEntry = {
  format: 1,
  type: 'market',
  market: 'a',
  revision: 1,
  updatedAt: '2026-01-01T00:00:00Z',
  name: 'A',
  kind: 'test',
  status: 'active',
  nativeCurrency: 'USD',
  unit: { of: 'unit', quantity: 1 },
  sourceCount: 0,
};

/** Version `ordinal` of the value of that day. */
function observation(day: number, ordinal = 0, more: Partial<ObservationEntry> = {}): ObservationEntry {
  const observedAt = `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`;
  const identity = { market: 'a', metric: 'price', observedAt, sourceUrl: 'https://example.com/a' };
  return {
    format: 1,
    type: 'observation',
    ...identity,
    revision: 2 + ordinal,
    id: observationId({ ...identity, ordinal }),
    kind: 'money',
    amountMinor: 100 * day + ordinal,
    currency: 'USD',
    minorDigits: 2,
    sourceLabel: 'a test',
    recordedAt: `2026-02-0${1 + ordinal}T00:00:00Z`,
    releasedAt: null,
    confidence: 'high',
    status: 'final',
    sourceValue: null,
    rounded: false,
    unknownReason: null,
    retraction: null,
    supersedes: ordinal === 0 ? null : observationId({ ...identity, ordinal: ordinal - 1 }),
    ...more,
  } as ObservationEntry;
}

const REMOVAL: LogEntry = {
  format: 1,
  type: 'removal',
  market: 'a',
  revision: 9,
  reason: 'why',
  replacedBy: null,
  removedAt: '2026-03-01T00:00:00Z',
};
const RESET: LogEntry = { format: 1, type: 'reset', market: 'a' };

function fold(...entries: readonly LogEntry[]): Folded | null {
  const log = new LogFold();
  for (const entry of entries) log.add(entryText(entry));
  return log.market('a');
}

function shown(...entries: readonly LogEntry[]) {
  const folded = fold(...entries);
  if (folded?.kind !== 'shown') throw new Error('not shown');
  return { ...folded, value: folded.record(null) };
}

describe('the fold gives', () => {
  test('the same, if an observation is stated again at another revision', () => {
    const again = { ...observation(1), revision: 7 };
    expect(shown(MARKET, observation(1), again).observations).toHaveLength(1);
  });

  test('only what follows a reset, and nothing without it', () => {
    expect(shown(MARKET, observation(1), RESET, MARKET, observation(2)).observations).toHaveLength(1);
    expect(fold(MARKET, observation(1), RESET)).toBeNull();
    expect(fold()).toBeNull();
    expect(fold(REMOVAL, RESET, MARKET)?.kind).toBe('shown');
  });

  test('a removal, also of a market that nothing defines', () => {
    const removal = { reason: 'why', replacedBy: null, removedAt: '2026-03-01T00:00:00Z' };
    expect(fold(MARKET, observation(1), REMOVAL)).toEqual({ kind: 'removed', removal });
    expect(fold(REMOVAL)).toEqual({ kind: 'removed', removal });
  });
});

describe('the fold refuses', () => {
  const CASES: readonly [what: string, entries: readonly LogEntry[]][] = [
    ['a market without a definition', [observation(1)]],
    ['a source that has no entry', [{ ...MARKET, sourceCount: 1 } as LogEntry]],
    ['an entry after a removal', [MARKET, REMOVAL, MARKET]],
    ['another content under a known id', [MARKET, observation(1), observation(1, 0, { sourceLabel: 'other' })]],
    ['a correction of nothing', [MARKET, observation(1, 1)]],
    ['a correction before its observation', [MARKET, observation(1, 1), observation(1)]],
    [
      'two corrections of one version',
      [MARKET, observation(1), observation(1, 1), observation(1, 1, { id: observation(1, 2).id })],
    ],
    ['an id of another observation', [MARKET, observation(1, 0, { id: observation(2).id })]],
    ['a wrong number of decimals', [MARKET, observation(1, 0, { minorDigits: 3 })]],
    ['a currency that is not in ISO 4217', [MARKET, observation(1, 0, { currency: 'XXA' })]],
  ];

  test.each(CASES)('%s', (_, entries) => {
    expect(() => fold(...entries)).toThrow(LogFaultError);
  });
});

describe('a takedown', () => {
  const takedown = (first: number, last: number): LogEntry => ({
    format: 1,
    type: 'takedown',
    market: 'a',
    first,
    last,
  });

  test('announces the entries that it names, and no others', () => {
    const log = new LogFold();
    for (let index = 0; index < 4; index++) log.addTakenDown();
    log.add(entryText(REMOVAL));
    expect(log.unannounced()).toEqual([0, 1, 2, 3]);
    log.add(entryText(takedown(1, 2)));
    expect([log.unannounced(), log.takenDown]).toEqual([[0, 3], 4]);
    log.add(entryText(RESET));
    expect(log.unannounced()).toEqual([0, 3]);
  });

  test.each<[string, readonly LogEntry[]]>([
    ['of a market that is public', [MARKET, takedown(0, 0)]],
    ['of a market that the log does not know', [RESET, takedown(0, 0)]],
    ['of a market that is public again', [REMOVAL, RESET, MARKET, takedown(0, 0)]],
    ['of entries that are not there yet', [REMOVAL, takedown(0, 1)]],
    ['of no entries', [REMOVAL, RESET, REMOVAL, takedown(1, 0)]],
  ])('%s is refused, and announces nothing', (_, entries) => {
    const log = new LogFold();
    for (const entry of entries.slice(0, -1)) log.add(entryText(entry));
    expect(() => log.add(entryText(entries.at(-1) as LogEntry))).toThrow(LogFaultError);
    expect([0, 1].some((index) => log.isAnnounced(index))).toBe(false);
  });
});
