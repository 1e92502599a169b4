/** Wheel, drag, pinch and tap on a chart. */

import { panned, zoomed } from './asked-range.ts';
import type { MarketChart } from './market-chart.ts';

/** A pointer that moves less than this has tapped. In CSS pixels. */
const TAP_PIXELS = 5;
const WHEEL_ZOOM = 1.0015;

/**
 * The wheel zooms while the chart has the focus, or with Ctrl (the form of a pinch on a touchpad); otherwise the page scrolls.
 * A sideways wheel pans. One finger or the mouse pans, and two fingers zoom. A vertical movement of a finger scrolls the page.
 *
 * @param host receives the focus
 * @param onTap receives the place in the plot, in CSS pixels
 */
export function listenToGestures(
  host: HTMLElement,
  chart: MarketChart,
  onTap: (left: number, top: number) => void,
): void {
  const pointers = new Map<number, PointerEvent>();
  let moved = 0;

  const secondAt = (clientX: number): number => chart.plot?.posToVal(clientX - boxOf().left, 'x') ?? 0;
  const boxOf = (): DOMRect => (chart.plot?.over ?? host).getBoundingClientRect();
  const secondsOf = (pixels: number): number => (pixels / boxOf().width) * (chart.range.max - chart.range.min);

  host.addEventListener(
    'wheel',
    (event) => {
      const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isSideways && !event.ctrlKey && !event.metaKey && !host.contains(document.activeElement)) return;
      event.preventDefault();
      if (isSideways) chart.setRange(panned(chart.range, secondsOf(event.deltaX), chart.whole));
      else {
        const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 20 : event.deltaY;
        const factor = WHEEL_ZOOM ** (event.ctrlKey ? pixels * 6 : pixels);
        chart.setRange(zoomed(chart.range, factor, secondAt(event.clientX), chart.whole));
      }
    },
    { passive: false },
  );

  host.addEventListener('pointerdown', (event) => {
    if (event.button !== 0 || !(event.target as Element).closest('.u-over')) return;
    if (pointers.size === 0) moved = 0;
    pointers.set(event.pointerId, event);
    host.setPointerCapture(event.pointerId);
  });

  host.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    const [other] = [...pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
    const pixels = event.clientX - before.clientX;
    moved += Math.abs(pixels) + Math.abs(event.clientY - before.clientY);
    if (other !== undefined) {
      const [was, is] = [before, event].map(({ clientX }) => Math.max(20, Math.abs(clientX - other.clientX)));
      chart.setRange(zoomed(chart.range, (was as number) / (is as number), secondAt(other.clientX), chart.whole));
    } else if (moved >= TAP_PIXELS) {
      chart.setRange(panned(chart.range, -secondsOf(pixels), chart.whole));
    }
    pointers.set(event.pointerId, event);
  });

  const end = (event: PointerEvent): void => {
    if (!pointers.delete(event.pointerId) || event.type === 'pointercancel') return;
    const { left, top } = boxOf();
    if (moved < TAP_PIXELS && pointers.size === 0) onTap(event.clientX - left, event.clientY - top);
  };
  host.addEventListener('pointerup', end);
  host.addEventListener('pointercancel', end);
  host.addEventListener('dblclick', () => chart.setRange(null));
}
