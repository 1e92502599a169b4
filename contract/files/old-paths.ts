/** The keys that earlier versions gave to public objects. Pure. */
import { CURSOR_PATTERN, SLUG_PATTERN } from './limits.ts';

const CURSOR = `(?<cursor>${CURSOR_PATTERN})`;
const SLUG = `(?<slug>${SLUG_PATTERN})`;

/** No key of today matches one of them, so a key is renamed once. */
const RENAMED: readonly (readonly [RegExp, string])[] = [
  [key(`api/v1/histories/${SLUG}\\.json`), 'public/api/v1/markets/$<slug>/history.json'],
  [key(`api/v1/market-pages/${CURSOR}\\.json`), 'public/api/v1/markets/pages/$<cursor>.json'],
  [key(`api/v1/history-pages/${SLUG}/${CURSOR}\\.json`), 'public/api/v1/markets/$<slug>/history/pages/$<cursor>.json'],
  [key(`api/v1/markets/${SLUG}/history/index`), 'public/api/v1/markets/$<slug>/history/index.json'],
  [key('api/v1/(?<name>latest|recent|exports/latest)'), 'public/api/v1/$<name>.json'],
  [key('site/(?<file>.+)'), 'public/$<file>'],
];

function key(path: string): RegExp {
  return new RegExp(`^public/${path}$`);
}

/** The key that an object has today. A key of today, or of no public object, stays as it is. */
export function currentKey(old: string): string {
  const renamed = RENAMED.find(([pattern]) => pattern.test(old));
  return renamed === undefined ? old : old.replace(...renamed);
}
