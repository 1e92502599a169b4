/** The key that leads to the search of a page. */

/** A switch of this browser, for all pages: speech control may press a key without a modifier (WCAG 2.2, 2.1.4). */
const SHORTCUT_OFF = 'tidemark.shortcut-off';

export const slashKey = {
  get isOn(): boolean {
    return localStorage.getItem(SHORTCUT_OFF) === null;
  },
  set isOn(isOn: boolean) {
    if (isOn) localStorage.removeItem(SHORTCUT_OFF);
    else localStorage.setItem(SHORTCUT_OFF, 'true');
  },
};

export function leadToSearch(field: HTMLInputElement): void {
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, select, textarea');
    const isModified = event.ctrlKey || event.metaKey || event.altKey;
    if (event.key !== '/' || isTyping || isModified || !slashKey.isOn) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
