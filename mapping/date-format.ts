/** Calendar dates in CSV files. */

const TOKEN = /YYYY|MM?|DD?/g;
const DIGITS: { readonly [token: string]: string } = {
  YYYY: '(?<year>\\d{4})',
  MM: '(?<month>\\d{2})',
  M: '(?<month>\\d{1,2})',
  DD: '(?<day>\\d{2})',
  D: '(?<day>\\d{1,2})',
};

/** Whether a text is a date format: YYYY and MM (or M) once each, DD (or D) at most once, separators between them. */
export function isDateFormat(format: string): boolean {
  const letters = format.match(TOKEN)?.map((token) => token.charAt(0)) ?? [];
  const once = ['Y', 'M', 'D'].every((letter) => letters.filter((other) => other === letter).length <= 1);
  return once && letters.includes('Y') && letters.includes('M') && /^[-/. ]*$/.test(format.replace(TOKEN, ''));
}

/** Whether dates of this format have a day. */
export function hasDay(format: string): boolean {
  return format.includes('D');
}

/**
 * Makes a parser for dates of this format. It gives `YYYY-MM-DD`: the first of the month if the format has no day. It
 * gives null for text that does not match or is not a day of the calendar.
 */
export function dateReader(format: string): (text: string) => string | null {
  const source = format.replace(/[/.]/g, '\\$&').replace(TOKEN, (token) => DIGITS[token] as string);
  const pattern = new RegExp(`^${source}$`);
  return (text) => {
    const { year, month, day = '1' } = pattern.exec(text)?.groups ?? {};
    if (year === undefined || month === undefined) return null;
    const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const instant = Date.parse(`${date}T00:00:00Z`);
    // Date.parse takes 30 February for 1 March.
    return Number.isNaN(instant) || !new Date(instant).toISOString().startsWith(date) ? null : date;
  };
}
