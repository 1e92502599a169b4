/** What is wrong in the nesting of an HTML text. Enough for our own pages, which quote every attribute. */

const VOID = new Set(['area', 'br', 'col', 'hr', 'img', 'input', 'link', 'meta', 'path', 'wbr']);
const BLOCKS = new Set([
  'details',
  'div',
  'dl',
  'figure',
  'h1',
  'h2',
  'h3',
  'ol',
  'p',
  'pre',
  'section',
  'table',
  'ul',
]);
/** Elements that hold phrasing content only (HTML standard, section 3.2.5.2.5). A `p` would end before a block. */
const OF_PHRASES = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'a', 'span', 'code', 'pre', 'summary']);

const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z-]+(?:="[^"<>]*")?)*)(\/?)>/g;

export function faultsOfHtml(text: string): readonly string[] {
  const faults: string[] = [];
  const open: string[] = [];
  const rest = text
    .replace(/^<!doctype html>/, '')
    .replaceAll(TAG, (_, end: string, name: string, _attributes, closed: string) => {
      const parent = open.at(-1) ?? '';
      if (end === '/') {
        if (parent === name) open.pop();
        else faults.push(`</${name}> inside <${parent}>`);
      } else {
        if (BLOCKS.has(name) && OF_PHRASES.has(parent)) faults.push(`<${name}> inside <${parent}>`);
        if (name === 'li' && !['ul', 'ol'].includes(parent)) faults.push(`<li> inside <${parent}>`);
        if (!VOID.has(name) && closed === '') open.push(name);
      }
      return '';
    });
  for (const name of open) faults.push(`<${name}> is not closed`);
  for (const [stray] of rest.matchAll(/[<>].{0,20}|&(?!\w+;|#\d+;)/g)) faults.push(`${stray} is no tag`);
  return faults;
}
