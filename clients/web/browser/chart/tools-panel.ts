/** Below the chart: files of the visible part, and its citation. Their script is loaded on demand. */
import { button, dom, element } from '../market/elements.ts';
import type { DrawnChart } from './market-chart.ts';
import type { SeenChart } from './seen-chart.ts';

/** Built as a script of its own. Bundlers do not follow a computed address. */
const SCRIPT = new URL('chart-tools.js', import.meta.url).href;
const script = (): Promise<typeof import('./tools/chart-tools.ts')> => import(SCRIPT);

const FORMS = { csv: 'CSV', png: 'PNG', svg: 'SVG' } as const;
type Seen = SeenChart & DrawnChart;
type Form = keyof typeof FORMS;

export class ToolsPanel {
  readonly root: HTMLElement;
  readonly #seen: () => Seen | null;
  readonly #citation = element('div', {});
  readonly #cite = dom<HTMLDetailsElement>`<details><summary>Cite this</summary>${this.#citation}</details>`;
  readonly #said = element('p', { class: 'small soft', role: 'status' });

  /** @param seen null: there is no chart yet */
  constructor(seen: () => Seen | null) {
    this.#seen = seen;
    const buttons = Object.entries(FORMS).map(([form, name]) =>
      button(name, () => void this.#download(form as Form), { 'aria-label': `Download what is seen as ${name}` }),
    );
    this.#cite.addEventListener('toggle', () => this.refresh());
    this.root = dom`<div class="chart-tools stack"><div class="control-group row" role="group" aria-label="Download what is seen">
<span class="small soft">Download</span>${buttons}</div>${this.#cite}${this.#said}</div>`;
  }

  /** Call it when the chart shows something else. */
  refresh(): void {
    if (this.#cite.open) void this.#showCitation();
  }

  async #showCitation(): Promise<void> {
    const { citationParts } = await script();
    const seen = this.#seen();
    if (seen === null) return;
    const made = citationParts(seen);
    // Unchanged texts are kept: replacing them would clear the selection.
    if (this.#citation.textContent !== made.textContent) this.#citation.replaceChildren(made);
  }

  async #download(form: Form): Promise<void> {
    const { seenFile } = await script();
    const seen = this.#seen();
    if (seen === null) return;
    const { name, content } = await seenFile(seen, form);
    const href = URL.createObjectURL(content);
    element('a', { href, download: name }).click();
    // Some browsers read the file only after the click.
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    this.#said.textContent = `Downloaded: ${name}`;
  }
}
