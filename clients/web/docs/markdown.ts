/** Markdown to HTML, at build time. HTML in the Markdown is shown as text. Pure. */
import { Marked, type Token, type Tokens } from 'marked';
import { type Html, html, trustedHtml } from '../../../contract/html/html.ts';
import { escapedHtml } from '../../../contract/html/html-text.ts';

/** The displayed names of languages, by their names in Markdown fences. */
const LANGUAGES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python', json: 'JSON' };
/** The language of a block that is folded until a reader opens it. */
export const FOLDED = 'json folded';

/** A heading in the table of contents. */
export interface Heading {
  readonly id: string;
  readonly title: Html;
}

export interface MarkdownParts {
  /** The first paragraph. */
  readonly lead: Html;
  readonly body: Html;
  /** The headings of level 2. */
  readonly headings: readonly Heading[];
}

const marked = new Marked({
  renderer: {
    html: ({ text }) => html`${text}`.text,
    heading({ depth, text }) {
      const { id, title } = headingOf(text);
      // Operations have equal headings below their own, so only higher levels get an id.
      return `<h${depth}${depth > 2 && !text.endsWith('}') ? '' : ` id="${id}"`}>${title.text}</h${depth}>\n`;
    },
    code: ({ text, lang }) => (lang === FOLDED ? folded('Example', text, false) : codeBlock(text)).text,
  },
});

/** `A title {#its-id}`; without an id, as on GitHub. */
function headingOf(text: string): Heading {
  const [, title = text, id = headingId(text)] = /^(.*) \{#([\w-]+)\}$/.exec(text) ?? [];
  return { id, title: trustedHtml(marked.parseInline(title, { async: false })) };
}

export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

export function markdown(text: string): Html {
  return trustedHtml(marked.parse(text, { async: false }));
}

/** @throws Error if the text does not begin with a paragraph, or has code in an unknown language */
export function markdownParts(text: string): MarkdownParts {
  const [lead, ...rest] = marked.lexer(text).filter(({ type }) => type !== 'space');
  if (lead?.type !== 'paragraph') throw new Error('begin with a paragraph');
  const headings = rest.filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2);
  return {
    lead: trustedHtml(marked.parser([lead])),
    body: trustedHtml(blocksOf(rest)),
    headings: headings.map((heading) => headingOf(heading.text)),
  };
}

/** Consecutive code blocks show the same in several languages: the first one is open. */
function blocksOf(tokens: readonly Token[]): string {
  const texts: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const blocks: Tokens.Code[] = [];
    for (let token = tokens[at]; token?.type === 'code'; token = tokens[at + blocks.length])
      blocks.push(token as Tokens.Code);
    if (blocks.length > 1) {
      const choices = blocks.map(({ lang, text }, index) => folded(languageName(lang), text, index === 0));
      texts.push(html`<div class="snippets">${choices}</div>`.text);
      at += blocks.length - 1;
    } else texts.push(marked.parser([tokens[at] as Token]));
  }
  return texts.join('');
}

function languageName(fence = ''): string {
  const name = LANGUAGES[fence];
  if (name !== undefined) return name;
  throw new Error(`a code block of ${fence || 'no language'}: use one of ${Object.keys(LANGUAGES)}`);
}

/** Long lines wrap, so that no block needs a scroll bar or a tab stop. */
function codeBlock(text: string): Html {
  // Quotes need no escape in text, and JSON examples have thousands. A quote after `=` stays escaped: otherwise it would look
  // like a link of the page.
  const code = trustedHtml(escapedHtml(text.trimEnd()).replaceAll(/(?<!=)&quot;/g, '"'));
  return html`<pre><code>${code}</code></pre>`;
}

function folded(summary: string, text: string, isOpen: boolean): Html {
  const open = isOpen ? html` open` : null;
  return html`<details class="fold"${open}><summary>${summary}</summary>${codeBlock(text)}</details>`;
}
