/** Texts with a button that copies them. */
import { button, dom } from './elements.ts';

/** Says by `said` how it went. Browsers give no clipboard to pages without TLS: then the text is selected. */
export async function copyText(of: HTMLElement, text: string, said: (words: string) => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    said('Copied');
  } catch {
    getSelection()?.selectAllChildren(of);
    said('Selected');
  }
}

/** A text as a row of a list. @param said the live region that says how it went */
export function copyRow(words: string, text: string, said: HTMLElement): HTMLElement[] {
  const code = dom`<code>${text}</code>`;
  const tell = (how: string): void => {
    said.textContent = `${how}: ${words}.${how === 'Selected' ? ' This page may not copy: copy it by keyboard.' : ''}`;
  };
  const copy = button('Copy', () => void copyText(code, text, tell), { 'aria-label': `Copy ${words}` });
  return [
    dom`<dt>${words}</dt>`,
    dom`<dd class="request"><pre tabindex="0" aria-label="${words}">${code}</pre>${copy}</dd>`,
  ];
}
