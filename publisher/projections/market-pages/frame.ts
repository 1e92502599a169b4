/**
 * The frame of a page: what the built page of any market has around the title and its descriptions, and around the content of
 * `main`. Pure.
 */

/** Around the two places. */
export type Frame = readonly [before: string, between: string, after: string];

const PLACES = /^(.*?)<title>.*?(<link rel="icon".*?<main [^>]*>\n).*?(<\/main>.*)$/s;

/** Of a publisher without a site. */
const BARE: Frame = [
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
  '<link rel="icon" href="../assets/icon.svg" type="image/svg+xml">\n</head>\n<body>\n<main id="main">\n',
  '</main>\n</body>\n</html>\n',
];

/** @param page with a frame: of any market, or of one. Null: there is no site */
export function frameOf(page: string | null): Frame {
  if (page === null) return BARE;
  const [, before, between, after] = PLACES.exec(page) ?? [];
  if (before === undefined || between === undefined || after === undefined)
    throw new Error('the page of any market has no <title>, no icon, or no <main>');
  return [before, between, after];
}
