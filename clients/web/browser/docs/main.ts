/** The script of the documentation: the commands name the service that shows them, can be copied, and are found. */
import { READ_HOST, WRITE_HOST } from '../../../../contract/files/example-hosts.ts';
import { marketUrl } from '../../../../contract/files/routes.ts';
import { addressOf, BASE_URL } from '../base-url.ts';
import { copyText } from '../market/copy-row.ts';
import { button, dom } from '../market/elements.ts';
import { DOCUMENTED_SLUG, exampleSlug } from './example-market.ts';
import { fillSearch } from './search-box.ts';

/** Where the publisher did not know the base URLs, the service is one machine, with one for readers and writers. */
function nameService(root: HTMLElement): void {
  const base = BASE_URL.href.replace(/\/$/, '');
  for (const text of textsWith(root, READ_HOST)) text.data = text.data.replaceAll(READ_HOST, base);
  for (const text of textsWith(root, WRITE_HOST)) text.data = text.data.replaceAll(WRITE_HOST, base);
}

async function nameMarket(root: HTMLElement): Promise<void> {
  const documented = marketUrl(DOCUMENTED_SLUG);
  const texts = textsWith(root, documented);
  if (texts.length === 0) return;
  const slug = await exampleSlug(async (path) => {
    const answer = await fetch(addressOf(path));
    return answer.ok ? await answer.json() : null;
  }).catch(() => DOCUMENTED_SLUG);
  for (const text of texts) text.data = text.data.replaceAll(documented, marketUrl(slug));
}

function textsWith(root: HTMLElement, part: string): readonly Text[] {
  const found: Text[] = [];
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) if ((texts.currentNode as Text).data.includes(part)) found.push(texts.currentNode as Text);
  return found;
}

function offerCopies(root: HTMLElement): void {
  const said = dom`<p class="visually-hidden" role="status"></p>`;
  for (const block of root.querySelectorAll('pre')) {
    const tell = (how: string): void => {
      said.textContent = how === 'Copied' ? 'Copied.' : 'The text is selected: copy it by the keyboard.';
      copy.textContent = how;
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, 3000);
    };
    const copy = button('Copy', () => void copyText(block, block.innerText, tell), { class: 'copy' });
    const frame = dom`<div class="code-frame"></div>`;
    block.replaceWith(frame);
    frame.append(block, copy);
  }
  root.append(said);
}

const root = document.querySelector('.docs') as HTMLElement;
nameService(root);
void nameMarket(root);
offerCopies(root);
fillSearch(root.querySelector('.docs-search') as HTMLElement);
root.setAttribute('data-ready', 'true');
