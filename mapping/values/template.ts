/** Templates of a CSV mapping: text with `{column}` placeholders. */

/** The derived column with the date of an observation as the file has it, by its own clocks: `YYYY-MM-DD`. */
export const OBSERVED_DATE = 'observedDate';

/** The column with the day of the run that fetched the file, `YYYY-MM-DD`. Only the mappings of recipes have it. */
export const RUN_DATE = 'runDate';

/**
 * All columns that a run adds to a file, if the mapping uses them. `fetchedAt` is the moment of the fetch; `lastModified` is
 * the answer's `Last-Modified`, or else the moment of the fetch. Both are RFC 3339 in UTC.
 */
export const RUN_COLUMNS = [RUN_DATE, 'fetchedAt', 'lastModified'] as const;

export type RunColumns = Readonly<Record<(typeof RUN_COLUMNS)[number], string>>;

export function isRunColumn(name: string): name is keyof RunColumns {
  return RUN_COLUMNS.some((column) => column === name);
}

/** Literal text, or the name of a column. */
export type TemplatePart = string | { readonly column: string };

/** The parts of a template; null if a brace is not part of a `{column}` pair. */
export function parseTemplate(template: string): readonly TemplatePart[] | null {
  const parts: TemplatePart[] = [];
  for (const [index, piece] of template.split(/\{([^{}]+)\}/).entries()) {
    // Splitting by one group alternates: text, column, text, column …
    if (index % 2 === 1) parts.push({ column: piece.trim() });
    else if (/[{}]/.test(piece)) return null;
    else if (piece !== '') parts.push(piece);
  }
  return parts;
}

/** The columns that a template names. Empty for a malformed template. */
export function columnsOf(template: string): string[] {
  return (parseTemplate(template) ?? []).flatMap((part) => (typeof part === 'string' ? [] : [part.column]));
}

export interface Columns {
  get(column: string): string;
}

/** Makes the function that fills in a template. `encode` applies to the values, not to the text around them. */
export function compileTemplate(
  template: string,
  encode: (value: string) => string = (value) => value,
): (columns: Columns) => string {
  const parts = parseTemplate(template);
  if (parts === null) throw new RangeError(`malformed template: ${template}`);
  return (columns) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : encode(columns.get(part.column));
    return text;
  };
}

/**
 * Fills in a template that becomes a URL. A template that is a single placeholder gives the value unchanged, because its column
 * contains complete links.
 */
export function compileUrl(template: string): (columns: Columns) => string {
  const isLink = /^\{[^{}]+\}$/.test(template);
  return isLink ? compileTemplate(template) : compileTemplate(template, encodeURIComponent);
}
