/** An option that is a number of seconds. */
import { InvalidArgumentError } from 'commander';

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1e6) return value;
  throw new InvalidArgumentError('Write a number of seconds, from 0 to 1,000,000.');
}
