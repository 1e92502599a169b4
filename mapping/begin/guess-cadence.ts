/** Guesses how often the source publishes, by the dates of the file. */
import type { CALENDAR_PERIODS } from '../../contract/freshness/cadence.ts';
import { FILL_IN } from '../declared/parse-jsonc.ts';
import { wallOf } from '../values/date-format.ts';
import { Column, dateIn } from './column.ts';
import { Commented } from './commented-json.ts';
import type { Draft } from './draft.ts';

type Period = (typeof CALENDAR_PERIODS)[number];

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const DAY_SECONDS = 86_400;
/** The share of distances that a period must explain. Some values are missing in most files. */
const MOSTLY = 0.9;
const DATES_LEAST = 3;
/** With fewer days, a file without a Saturday and a Sunday may be a week's. */
const DAYS_LEAST = 8;

/** The distances between two values in days, and the days until a period is over. */
const PERIODS: readonly {
  readonly period: Period;
  readonly from: number;
  readonly to: number;
  readonly days: number;
}[] = [
  { period: 'week', from: 6, to: 8, days: 7 },
  { period: 'month', from: 28, to: 31, days: 31 },
  { period: 'quarter', from: 89, to: 92, days: 92 },
  { period: 'half-year', from: 181, to: 184, days: 184 },
  { period: 'year', from: 365, to: 366, days: 366 },
];

const UNKNOWN = `${FILL_IN}: how often does the source publish? null, if that is not known; docs/mapping.md has a cadence`;
const GUESS =
  'Guessed from the dates: a value for each period, published when it is over. Pages call a market late after graceSeconds more.';

/** The cadence of the source. Undefined: the file is a current list without dates. */
export function draftCadence({ guess: { date, wide }, isList }: Draft): Commented | string | undefined {
  if (isList) return undefined;
  if (date === null || date.isAmbiguous) return UNKNOWN;
  const { distinct } = date.column ?? new Column('', wide?.map(({ name }) => name) ?? []);
  const moments = momentsOf(distinct, date.formats);
  const cadence = cadenceOf(moments, date.precision === 'instant');
  const { precision } = date;
  const own =
    precision === 'day' || precision === 'instant' ? undefined : PERIODS.find(({ period }) => period === precision);
  const found = cadence ?? (moments.length < DATES_LEAST && own !== undefined ? calendar(own) : null);
  return found === null ? UNKNOWN : new Commented(found, GUESS);
}

/** The different moments of the file, in order. */
function momentsOf(texts: ReadonlySet<string>, formats: readonly string[]): readonly number[] {
  const readers = formats.map(dateIn);
  const found = [...texts].flatMap((text) => {
    const written = readers.map((read) => read(text)).find((each) => each !== null);
    return written == null ? [] : [wallOf(written) - (written.offsetMinutes ?? 0) * MINUTE_MS];
  });
  return [...new Set(found)].sort((one, other) => one - other);
}

function cadenceOf(moments: readonly number[], areTimes: boolean): object | null {
  if (moments.length < DATES_LEAST) return null;
  const gaps = moments.slice(1).map((moment, index) => moment - (moments[index] as number));
  const share = (fits: (gap: number) => boolean) => gaps.filter(fits).length / gaps.length;
  const usual = gaps.toSorted((one, other) => one - other)[gaps.length >> 1] ?? 0;
  const minutes = usual / MINUTE_MS;
  if (areTimes && usual < DAY_MS) {
    const isRegular = Number.isInteger(minutes) && share((gap) => gap === usual) >= MOSTLY;
    return isRegular ? { period: 'minutes', minutes, graceSeconds: DAY_SECONDS } : null;
  }
  // Weekends and holidays are longer distances.
  if (Math.round(usual / DAY_MS) === 1 && share((gap) => gap <= 5 * DAY_MS) >= MOSTLY) {
    const days = new Set(moments.map((moment) => new Date(moment).getUTCDay()));
    const isWorking = moments.length >= DAYS_LEAST && !days.has(0) && !days.has(6);
    const weekdays = isWorking ? { weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'] } : {};
    return { period: 'day', releaseTime: '23:59', ...weekdays, graceSeconds: DAY_SECONDS };
  }
  const found = PERIODS.find(({ from, to }) => share((gap) => gap >= from * DAY_MS && gap <= to * DAY_MS) >= MOSTLY);
  return found === undefined ? null : calendar(found);
}

function calendar({ period, days }: (typeof PERIODS)[number]) {
  const graceSeconds = (period === 'week' ? 2 : 7) * DAY_SECONDS;
  return { period, releaseAfterDays: days, releaseTime: '23:59', graceSeconds };
}
