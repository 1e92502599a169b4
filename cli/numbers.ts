/** Options that are numbers. */
import { InvalidArgumentError } from 'commander';

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1e6) return value;
  throw new InvalidArgumentError('Write a number of seconds, from 0 to 1,000,000.');
}

/** The greatest number of items to show. */
export function itemLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number from 1 on.');
}
