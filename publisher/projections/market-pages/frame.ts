/** The frame of a page: the built page of any market, without its title, its descriptions and the content of `main`. Pure. */

/** The text before, between and after the two places that are filled. */
export type Frame = readonly [before: string, between: string, after: string];

const PLACES = /^(.*?)<title>.*?(<link rel="icon".*?<main [^>]*>\n).*?(<\/main>.*)$/s;

/** The frame of a publisher without a site. */
const BARE: Frame = [
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
  '<link rel="icon" href="../assets/icon.svg" type="image/svg+xml">\n</head>\n<body>\n<main id="main">\n',
  '</main>\n</body>\n</html>\n',
];

/** Patterns that no frame of this project has: a foreign script, and elements that lead a reader away. */
const FOREIGN =
  /<script(?! type="module" src="\.\.\/assets\/market\.js"><\/script>)|<(?:base|embed|form|iframe|object|style)\b|http-equiv/i;

/** Whether the frame of a published page has no foreign pattern. Otherwise a mirror would serve a foreign script. */
export function isOwnFrame(page: string): boolean {
  return PLACES.test(page) && !FOREIGN.test(frameOf(page).join(''));
}

/** @param page a page with a frame: the built one, or that of one market. Null: there is no site */
export function frameOf(page: string | null): Frame {
  if (page === null) return BARE;
  const [, before, between, after] = PLACES.exec(page) ?? [];
  if (before === undefined || between === undefined || after === undefined)
    throw new Error('the page of any market has no <title>, no icon, or no <main>');
  return [before, between, after];
}
