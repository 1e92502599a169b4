/** Numbers and times as a person reads them. */

const numbers = new Intl.NumberFormat('en-GB');

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** The duration in the greatest unit of which it has at least two: 90 seconds, 47 hours, 2 days. */
export function durationInWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= 2 * size) ?? ['second', 1];
  return counted(Math.floor(seconds / size), unit);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${numbers.format(count)} ${count === 1 ? one : many}`;
}
