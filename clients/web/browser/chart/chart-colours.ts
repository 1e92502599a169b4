/** The colours of the design, in the form that a canvas needs. */

export interface ChartColours {
  readonly ink: string;
  readonly soft: string;
  readonly rule: string;
  readonly surface: string;
  readonly accent: string;
  readonly notice: string;
  readonly alarm: string;
  readonly series: readonly string[];
}

/** The dashes distinguish series as well as the colours do. In CSS pixels. */
export const SERIES_DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

/**
 * Reads the current colours: light, dark, or those that the reader's system forces.
 *
 * @param isPrinted light colours, for paper
 */
export function chartColours(host: HTMLElement, isPrinted = false): ChartColours {
  const series = [1, 2, 3, 4, 5, 6].map((number) => `series-${number}`);
  const names = ['ink', 'ink-soft', 'rule', 'surface', 'accent', 'notice', 'alarm', ...series];
  const probes = names.map((name) => {
    const probe = document.createElement('span');
    // Otherwise every colour would be the text colour, and the canvas one area.
    probe.style.setProperty('forced-color-adjust', 'none');
    probe.style.color = `var(--${name})`;
    if (isPrinted) probe.style.colorScheme = 'light';
    return probe;
  });
  // All at once: one by one, the browser would compute the styles of the page again each time.
  host.append(...probes);
  const colours = probes.map((probe) => getComputedStyle(probe).color);
  for (const probe of probes) probe.remove();
  const [ink = '', soft = '', rule = '', surface = '', accent = '', notice = '', alarm = '', ...ofSeries] = colours;
  return { ink, soft, rule, surface, accent, notice, alarm, series: ofSeries };
}

/** Calls back when the colours have changed. */
export function onOtherColours(redraw: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', redraw);
}

/** Colour and dash of a series. With more than six series, the pairs change, until each dash has met each colour. */
export function lookOfSeries(index: number): { readonly colour: number; readonly dash: number } {
  return { colour: index % 6, dash: (index + Math.floor(index / 6)) % 4 };
}
