/** Files and citations of what a reader sees. A script of its own: it is loaded when they are asked for. */

import { copyRow } from '../../market/copy-row.ts';
import { dom } from '../../market/elements.ts';
import type { DrawnChart } from '../market-chart.ts';
import type { SeenChart } from '../seen-chart.ts';
import { CSV_TYPE, seenCsv } from './chart-csv.ts';
import { framed, seenName } from './chart-frame.ts';
import { pngOf, svgOf } from './chart-svg.ts';
import { citationOf } from './citation.ts';

export async function seenFile(seen: SeenChart & DrawnChart, form: 'csv' | 'png' | 'svg') {
  const name = `${seenName(seen)}.${form}`;
  if (form === 'csv') return { name, content: new Blob([seenCsv(seen)], { type: CSV_TYPE }) };
  const svg = svgOf(seen, framed(seen, publisher()));
  return { name, content: form === 'png' ? await pngOf(svg) : new Blob([svg], { type: 'image/svg+xml' }) };
}

/** The operator or, where the page has no name of one, the host. */
function publisher(): string {
  const operator = document.querySelector('.operator[data-states~="name"] span')?.textContent;
  return operator?.replace('Operated by ', '') ?? location.host;
}

export function citationParts(seen: SeenChart): HTMLElement {
  const { text, bibtex, receiptUrl } = citationOf(seen, publisher());
  const said = dom`<p class="small" role="status"></p>`;
  const ofWhat = seen.chosen === null ? 'what the chart shows. Choose a point to cite one value' : 'the chosen value';
  return dom`<div>
<p class="small soft">Of ${ofWhat}. The address shows the page as of this moment, whatever is corrected later.</p>
<dl class="requests stack">${copyRow('Citation', text, said)}${copyRow('BibTeX', bibtex, said)}</dl>
${receiptUrl && dom`<p><a href="${receiptUrl}">The value with its signed receipt</a></p>`}${said}</div>`;
}
