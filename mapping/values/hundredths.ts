/** The words by which files name hundredths of a currency. */

/** Words that only mean hundredths of a currency. */
export const HUNDREDTHS =
  'cents?|cts?|¢|pence|penny|pennies|[öø]re|grosz[ey]?|rappen|centimes?|centavos?|paise|paisa|kopecks?|kopeks?|kuruş';
/** Letters that mean something else, too. */
export const LETTERS = 'c|p';

const ALONE = new RegExp(`^(${HUNDREDTHS}|${LETTERS})\\.?$`, 'iu');

/** Whether the text beside a number means hundredths: `12,3 ct`. */
export const areHundredths = (sign: string): boolean => ALONE.test(sign);
