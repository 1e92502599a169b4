/** The sentences of a page, section by section, for the search. Code, examples and lists of links are left out. Pure. */

/** Each line of a text is a paragraph, an item or a cell. */
export interface SectionText {
  /** The id of its heading. Null: what stands before the first one. */
  readonly id: string | null;
  readonly heading: string;
  readonly text: string;
}

const LEFT_OUT = [
  /<(pre|nav|noscript)\b.*?<\/\1>/gs,
  /<ul class="(?:problems|cards|columns)">.*?<\/ul>/gs,
  /<div class="audiences">.*?<\/ul><\/div><\/div>/gs,
  /<p class="(?:limits|request-line)">.*?<\/p>/gs,
  /<details class="fold">.*?<\/details>/gs,
  // Each operation links to the explanation of its header fields, and has facts that are the same in most.
  /<li><p class="member"><a .*?<\/li>/gs,
  /(?<=<section class="operation">.*)<dl class="facts">.*?<\/dl>/gs,
];
const BLOCKS =
  /<\/?(?:p|li|ul|ol|dl|dt|dd|div|section|table|thead|tbody|tr|td|th|h[1-6]|details|summary|article)\b[^>]*>/g;

/** @param page a page of the documentation */
export function sectionTexts(page: string): readonly SectionText[] {
  const content = page.slice(page.indexOf('<div class="docs-lead">'), page.indexOf('</main>'));
  const rest = LEFT_OUT.reduce((text, part) => text.replaceAll(part, '\n'), content);
  return rest.split(/(?=<h2 id=")/).map((section) => {
    const [all = '', id = null, heading = ''] = /^<h2 id="([^"]+)">(.*?)<\/h2>/s.exec(section) ?? [];
    return { id, heading: plainText(heading), text: plainText(section.slice(all.length)) };
  });
}

/** HTML without its elements. */
export function plainText(html: string): string {
  return html
    .replaceAll(/\n/g, ' ')
    .replaceAll(BLOCKS, '\n')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
