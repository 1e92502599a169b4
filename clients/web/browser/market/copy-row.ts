/** A text with a button that copies it, as a row of a list. */
import { button, element } from './elements.ts';

/** @param said the live region that says how it went */
export function copyRow(words: string, text: string, said: HTMLElement): HTMLElement[] {
  const code = element('code', {}, text);
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
    element('dt', {}, words),
    element('dd', { class: 'request' }, element('pre', { tabindex: '0', 'aria-label': words }, code), copy),
  ];
}
