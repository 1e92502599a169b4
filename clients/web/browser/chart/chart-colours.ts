/** The colours of the design, as a canvas needs them. */

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

/** The dashes tell series apart as well as their colours do. In CSS pixels. */
export const SERIES_DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

/**
 * Reads the colours as they are now: light, dark, or those that the reader forces.
 *
 * @param isPrinted paper is light
 */
export function chartColours(host: HTMLElement, isPrinted = false): ChartColours {
  const series = [1, 2, 3, 4, 5, 6].map((number) => `series-${number}`);
  const names = ['ink', 'ink-soft', 'rule', 'surface', 'accent', 'notice', 'alarm', ...series];
  const probes = names.map((name) => {
    const probe = document.createElement('span');
    // Otherwise every colour would be that of text, and the canvas one blot.
    probe.style.setProperty('forced-color-adjust', 'none');
    probe.style.color = `var(--${name})`;
    if (isPrinted) probe.style.colorScheme = 'light';
    return probe;
  });
  // Together, because each one alone would have the styles of the page computed anew.
  host.append(...probes);
  const colours = probes.map((probe) => getComputedStyle(probe).color);
  for (const probe of probes) probe.remove();
  const [ink = '', soft = '', rule = '', surface = '', accent = '', notice = '', alarm = '', ...ofSeries] = colours;
  return { ink, soft, rule, surface, accent, notice, alarm, series: ofSeries };
}

/** Calls back when other colours are to be read. */
export function onOtherColours(redraw: () => void): void {
  for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
    matchMedia(query).addEventListener('change', redraw);
}

/** Colour and dash of a series. With more than six series, the pairs change: each dash meets each colour. */
export function lookOfSeries(index: number): { readonly colour: number; readonly dash: number } {
  return { colour: index % 6, dash: (index + Math.floor(index / 6)) % 4 };
}
