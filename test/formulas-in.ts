/** The cells of a CSV text that a spreadsheet would run. Programs differ in the separator, which depends on the country. */

const SIGNS = /^[=+\-@＝＋－＠]/;
const NUMBER = /^-?\d+(\.\d+)?(e-?\d+)?$/;

export function formulasIn(text: string): readonly string[] {
  return [',', ';', '\t'].flatMap((separator) =>
    cellsOf(text, separator).filter((cell) => SIGNS.test(cell) && !NUMBER.test(cell)),
  );
}

/** As spreadsheets read: only a quote at the beginning of a cell protects it, and what follows its end belongs to the cell. */
function cellsOf(text: string, separator: string): readonly string[] {
  const cells: string[] = [];
  for (let at = 0; at <= text.length; at++) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; at < text.length; at++) {
        if (text[at] !== '"') cell += text[at];
        else if (text[at + 1] === '"') cell += text[++at];
        else break;
      }
      at++;
    }
    while (at < text.length && text[at] !== separator && text[at] !== '\r' && text[at] !== '\n') cell += text[at++];
    cells.push(cell);
  }
  return cells;
}
