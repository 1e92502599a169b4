import { InvalidArgumentError } from 'commander';
import { pastMs } from '../../clients/typescript/moments.ts';

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
