/** Blocks of code. Long lines wrap, so that no block needs a scroll bar, nor a stop of the Tab key. */
import { escapedHtml } from '../../../contract/values/html-text.ts';
import { type Html, html, trustedHtml } from '../pages/html.ts';

/** What a fence of Markdown calls a language, and what a reader calls it. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'curl',
  ts: 'TypeScript',
  python: 'Python',
  json: 'JSON',
  text: 'Text',
};

function languageName(fence: string): string {
  const name = LANGUAGES[fence];
  if (name === undefined)
    throw new Error(`a code block of ${fence || 'no language'}: use one of ${Object.keys(LANGUAGES)}`);
  return name;
}

export function codeBlock(text: string): Html {
  // Quotes need no escape in a text, and examples of JSON have thousands. Those behind `=` would look like links of the page.
  const code = trustedHtml(escapedHtml(text.trimEnd()).replaceAll(/(?<!=)&quot;/g, '"'));
  return html`<pre><code>${code}</code></pre>`;
}

/** A block that is folded up until somebody wants it. */
export function foldedCode(summary: string | Html, text: string): Html {
  return html`<details class="fold"><summary>${summary}</summary>${codeBlock(text)}</details>`;
}

/** The same in several languages: the first one is open. */
export function languageChoice(blocks: readonly { readonly fence: string; readonly text: string }[]): Html {
  return html`<div class="snippets">${blocks.map(
    ({ fence, text }, index) =>
      html`<details class="fold"${index === 0 ? html` open` : null}><summary>${languageName(fence)}</summary>${codeBlock(text)}</details>`,
  )}</div>`;
}
