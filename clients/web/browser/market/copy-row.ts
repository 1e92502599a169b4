/** A text with a button that copies it, as a row of a list. */
import { button, dom } from './elements.ts';

/** @param said the live region that says how it went */
export function copyRow(words: string, text: string, said: HTMLElement): HTMLElement[] {
  const code = dom`<code>${text}</code>`;
  const copy = button('Copy', () => void copied(), { 'aria-label': `Copy ${words}` });
  const copied = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = `Copied: ${words}.`;
    } catch {
      getSelection()?.selectAllChildren(code);
      said.textContent = 'The browser does not let this page copy. The text is selected: copy it by keyboard.';
    }
  };
  return [
    dom`<dt>${words}</dt>`,
    dom`<dd class="request"><pre tabindex="0" aria-label="${words}">${code}</pre>${copy}</dd>`,
  ];
}
