/** An option that is the greatest number of items to show. */
import { InvalidArgumentError } from 'commander';

export function itemLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number from 1 on.');
}
