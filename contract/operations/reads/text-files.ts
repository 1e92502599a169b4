/** How text files are described. */
import { textFile } from '../operation.ts';

export const TEXT = 'UTF-8 text without a byte order mark.';

export const csvFile = () => textFile('RFC 4180, UTF-8, with a header', 'text/csv', TEXT);

export const CSV_TEXT =
  'New columns are added at the end. An unknown value is an empty field. A text that a spreadsheet would take for a ' +
  'formula begins with an apostrophe.';
