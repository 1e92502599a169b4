/** The first page for people, which shows the first markets without a script. Constants only. */

/** The path in the built site. */
export const FRONT_PAGE = 'index.html';

/** Where the built page has no rows yet. */
export const ROWS_PLACE = '<tbody role="rowgroup"></tbody>';
