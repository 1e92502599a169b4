/** The first page for people, which shows the first markets without a script. Constants only. */

export const FRONT_TITLE = 'Market prices with their sources';
export const FRONT_DESCRIPTION =
  'Market prices, each with its source, its times and a signed receipt, in static files free to read.';

/** The path of the first page in the built site. */
export const FRONT_PAGE = 'index.html';

/** The place in the built page for the rows. */
export const ROWS_PLACE = '<tbody role="rowgroup"></tbody>';
