/** Markdown to HTML, at build time. HTML in the Markdown is shown as text. Pure. */
import { Marked, type Token, type Tokens } from 'marked';
import { type Html, html, trustedHtml } from '../pages/html.ts';
import { codeBlock, languageChoice } from './code-block.ts';

/** A heading that the table of contents leads to. */
export interface Heading {
  readonly id: string;
  readonly title: Html;
}

export interface MarkdownPage {
  /** The text of its only `h1`. */
  readonly title: string;
  /** The paragraph after the title, as Markdown. */
  readonly lead: string;
  readonly body: Html;
  /** The headings of level 2. */
  readonly headings: readonly Heading[];
}

const marked = new Marked({
  renderer: {
    html: ({ text }) => html`${text}`.text,
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${headingId(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code: ({ text }) => codeBlock(text).text,
  },
});

/** The name of a heading as a link target, as on GitHub. */
export function headingId(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Text of one line: code, emphasis and links. */
export function inlineMarkdown(text: string): Html {
  return trustedHtml(marked.parseInline(text, { async: false }));
}

export function markdown(text: string): Html {
  return trustedHtml(marked.parse(text, { async: false }));
}

/** @throws Error if the text does not begin with a title and a paragraph */
export function markdownPage(text: string): MarkdownPage {
  const [title, lead, ...rest] = marked.lexer(text).filter(({ type }) => type !== 'space');
  if (title?.type !== 'heading' || lead?.type !== 'paragraph') throw new Error('begin with a title and a paragraph');
  const headings = rest.filter((token): token is Tokens.Heading => token.type === 'heading' && token.depth === 2);
  return {
    title: title.text,
    lead: lead.text,
    body: trustedHtml(blocksOf(rest)),
    headings: headings.map(({ text }) => ({ id: headingId(text), title: inlineMarkdown(text) })),
  };
}

/** Code blocks that follow each other are the same in several languages. */
function blocksOf(tokens: readonly Token[]): string {
  const texts: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const blocks: { fence: string; text: string }[] = [];
    for (let token = tokens[at]; token?.type === 'code'; token = tokens[at + blocks.length])
      blocks.push({ fence: (token as Tokens.Code).lang ?? '', text: token.text });
    if (blocks.length > 1) {
      texts.push(languageChoice(blocks).text);
      at += blocks.length - 1;
    } else texts.push(marked.parser([tokens[at] as Token]));
  }
  return texts.join('');
}
