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

/** In a frame that another service has published: a script that is not of the site, and elements that lead a reader away. */
const FOREIGN =
  /<script(?! type="module" src="\.\.\/assets\/market\.js"><\/script>)|<(?:base|embed|form|iframe|object|style)\b|http-equiv/i;

/** Whether a published page has nothing in its frame that no site of this project has: a mirror would keep it. */
export function isOwnFrame(page: string): boolean {
  return PLACES.test(page) && !FOREIGN.test(frameOf(page).join(''));
}

/** @param page with a frame: of any market, or of one. Null: there is no site */
export function frameOf(page: string | null): Frame {
  if (page === null) return BARE;
  const [, before, between, after] = PLACES.exec(page) ?? [];
  if (before === undefined || between === undefined || after === undefined)
    throw new Error('the page of any market has no <title>, no icon, or no <main>');
  return [before, between, after];
}
