/** Options that are numbers or moments. */
import { InvalidArgumentError } from 'commander';
import { pastMs } from '../../clients/typescript/moments.ts';

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1e6) return value;
  throw new InvalidArgumentError('Write a number of seconds, from 0 to 1,000,000.');
}

/** The greatest number of items to show. */
export function itemLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number from 1.');
}

/** A share of a whole, from 0 to 1. */
export function share(text: string): number {
  if (/^(?:0(?:\.\d+)?|1)$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a number from 0 to 1.');
}

const SIZES: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/** A number of bytes, such as 500m or 20g. */
export function byteCount(text: string): number {
  const [, digits, unit] = /^([1-9]\d{0,11})([kmgt]?)b?$/i.exec(text) ?? [];
  if (digits !== undefined) return Number(digits) * (SIZES[(unit ?? '').toLowerCase()] as number);
  throw new InvalidArgumentError('Write a number of bytes, such as 500m or 20g.');
}

export function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('Write a port, from 0 to 65535.');
}

/** Reads an RFC 3339 moment of the past as milliseconds. @param name of the option, for the message */
export function pastMoment(name: string): (text: string) => number {
  return (text) => {
    try {
      return pastMs(text, name, Date.now());
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new InvalidArgumentError(`${cause.message}.`);
    }
  };
}
