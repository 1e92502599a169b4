/** Looks at the picture of a chart: expressions for `page.evaluate`. */

/** How many pixels of the chart's canvas have the colour of a line. */
export const PAINTED = `(() => {
  const canvas = document.querySelector('.chart-host canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let painted = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue] = data.slice(at, at + 3);
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 60) painted++;
  }
  return painted;
})()`;
