/** The script of the documentation: the commands name the service that shows them, can be copied, and are found. */
import { READ_HOST, WRITE_HOST } from '../../../../contract/files/example-hosts.ts';
import { BASE_URL } from '../base-url.ts';
import { button, element } from '../market/elements.ts';
import { fillSearch } from './search-box.ts';

/** Where the publisher did not know the base URLs, the service is one machine, with one for readers and writers. */
function nameService(root: HTMLElement): void {
  const base = BASE_URL.href.replace(/\/$/, '');
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode as Text;
    if (!text.data.includes(READ_HOST) && !text.data.includes(WRITE_HOST)) continue;
    text.data = text.data.replaceAll(WRITE_HOST, base).replaceAll(READ_HOST, base);
  }
}

function offerCopies(root: HTMLElement): void {
  const said = element('p', { class: 'visually-hidden', role: 'status' });
  for (const block of root.querySelectorAll('pre')) {
    const copy = button('Copy', () => void copied(block, copy, said), { class: 'copy' });
    const frame = element('div', { class: 'code-frame' });
    block.replaceWith(frame);
    frame.append(block, copy);
  }
  root.append(said);
}

async function copied(block: HTMLElement, copy: HTMLButtonElement, said: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(block.innerText);
    said.textContent = 'Copied.';
    copy.textContent = 'Copied';
  } catch {
    // Browsers give no clipboard to pages without TLS.
    getSelection()?.selectAllChildren(block);
    said.textContent = 'The text is selected: copy it by the keyboard.';
    copy.textContent = 'Selected';
  }
  setTimeout(() => {
    copy.textContent = 'Copy';
  }, 3000);
}

const root = document.querySelector('.docs') as HTMLElement;
nameService(root);
offerCopies(root);
fillSearch(root.querySelector('.docs-search') as HTMLElement);
root.setAttribute('data-ready', 'true');
