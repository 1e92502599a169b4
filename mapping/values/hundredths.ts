/** The words by which files name hundredths of a currency. */

/** Words that only mean hundredths of a currency. */
export const HUNDREDTHS =
  'cents?|cts?|¢|pence|penny|pennies|[öø]re|grosz[ey]?|rappen|centimes?|centavos?|paise|paisa|kopecks?|kopeks?|kuruş';
/** Letters that mean something else, too. */
export const LETTERS = 'c|p';

const FIRST = new RegExp(`^(${HUNDREDTHS}|${LETTERS})(?=\\.?$|\\s*/|\\s)`, 'iu');

/** Whether the text beside a number means hundredths: `12,3 ct`, `12,3 ct/kWh`. */
export const areHundredths = (sign: string): boolean => FIRST.test(sign);
