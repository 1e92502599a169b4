/** Needs of a recipe that its scheduled job must meet: times, secrets, and hosts that are not public. */
import { WEEKDAYS } from '../../contract/files/cadence.ts';
import type { Recipe } from '../../mapping/recipe/recipe.ts';
import { secretsIn } from '../../mapping/recipe/recipe-secrets.ts';
import { isInternalOrigin } from '../../mapping/recipe/recipe-url.ts';
import type { Schedule } from '../../mapping/recipe/schedule.ts';
import { zoneClock } from '../../mapping/values/zone-clock.ts';

/** The source publishes at its time, or a little later. */
const AFTER_MINUTES = 10;
const DAY_MINUTES = 1440;

export interface JobNeeds {
  /** In UTC, one for each time of the day. */
  readonly crons: readonly string[];
  /** Variables of the environment. */
  readonly secrets: readonly string[];
  /** Hosts that only an operator can allow: the value of TIDEMARK_SOURCE_HOSTS. */
  readonly internalHosts: readonly string[];
  /** Whether the recipe needs its earlier answers to notice what has vanished. */
  readonly isList: boolean;
}

/** @param year of the clocks' summer and winter */
export function jobNeeds({ url, headers = {}, hosts, schedule, list }: Recipe, year: number): JobNeeds {
  const secrets = [url, ...Object.values(headers)].flatMap(secretsIn);
  return {
    crons: cronsOf(schedule, year),
    secrets: [...new Set(secrets)].map((name) => `TIDEMARK_SECRET_${name}`),
    internalHosts: hosts.filter(isInternalOrigin),
    isList: list !== undefined,
  };
}

function cronsOf(schedule: Schedule, year: number): readonly string[] {
  if ('everyMinutes' in schedule) {
    const hours = Math.floor(schedule.everyMinutes / 60);
    if (hours === 0) return [`*/${schedule.everyMinutes} * * * *`];
    if (hours < 24) return [`${AFTER_MINUTES} ${hours === 1 ? '*' : `*/${hours}`} * * *`];
    return [`${AFTER_MINUTES} 0 * * *`];
  }
  // Cron knows no summer time. With the offset of winter, no run is before the time of the source.
  const clock = zoneClock(schedule.timeZone);
  const offsetMinutes = Math.min(...[0, 6].map((month) => clock.offsetAt(Date.UTC(year, month)) / 60_000));
  return schedule.at.map((time) => {
    const [hours, minutes] = time.split(':').map(Number) as [number, number];
    const at = hours * 60 + minutes - offsetMinutes + AFTER_MINUTES;
    const laterDays = Math.floor(at / DAY_MINUTES);
    const ofDay = at - laterDays * DAY_MINUTES;
    return `${ofDay % 60} ${Math.floor(ofDay / 60)} * * ${daysOf(schedule.days, laterDays)}`;
  });
}

/** As cron counts them: Sunday is 0. */
function daysOf(days: readonly (typeof WEEKDAYS)[number][], laterDays: number): string {
  if (new Set(days).size === WEEKDAYS.length) return '*';
  const numbers = days.map((day) => (WEEKDAYS.indexOf(day) + 1 + laterDays + 7) % 7);
  return [...new Set(numbers)].sort().join(',');
}
