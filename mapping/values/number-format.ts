/** Numbers in files, in the notations of people and programs. */
import { areHundredths } from './hundredths.ts';

export const DECIMAL_MARKS = ['.', ','] as const;
/** A space also stands for narrow and non-breaking spaces, and `'` for the typographic apostrophe. */
export const GROUP_MARKS = ['.', ',', ' ', "'"] as const;

/** The notation of numbers in a file. */
export interface NumberFormat {
  /** `either`: a number has at most one point or comma, directly before the decimals. */
  readonly decimalMark: (typeof DECIMAL_MARKS)[number] | 'either';
  /** The mark between groups of digits; without it, numbers have no groups. */
  readonly groupMark?: (typeof GROUP_MARKS)[number] | undefined;
  /** Trailing zeros of decimals. Default: `keep`. */
  readonly trailingZeros?: 'keep' | 'drop' | undefined;
  /** Texts that may stand before or after a number, such as `€`. */
  readonly signs?: readonly string[] | undefined;
}

const CLASSES = {
  '.': '\\.',
  ',': ',',
  either: '[.,]',
  ' ': '[ \\u00a0\\u2009\\u202f]',
  "'": "['\\u2019]",
} as const;

/** The limit of the stored number. No price needs more. */
const CHARACTERS_MAX = 64;

/**
 * Ambiguous if both marks are used: it may be a thousand and more, or one and some thousandths. A group never begins with zero.
 */
const UNDECIDED = /^[-\u2212]?[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Makes the function that reads a number. It returns the source's digits (see `sourceDigitsSchema`), or null for text in
 * another notation. The last group has three digits, the others two (as in India) or three. So `1.5` and `1.50` are never
 * mistaken for groups. Numbers without groups may have an exponent: `1.6e-05` keeps its spelling.
 */
export function numberReader(format: NumberFormat): (text: string) => string | null {
  const { decimalMark, groupMark, trailingZeros, signs = [] } = format;
  const read = plainReader(decimalMark, groupMark);
  const readBare = signs.length === 0 ? read : (text: string) => read(withoutSigns(text, signs));
  if (trailingZeros !== 'drop') return readBare;
  return (text) =>
    readBare(text)
      ?.replace(/(\.\d*?)0+(?=e|$)/i, '$1')
      .replace(/\.(?=e|$)/i, '') ?? null;
}

function plainReader(
  decimalMark: NumberFormat['decimalMark'],
  groupMark: NumberFormat['groupMark'],
): (text: string) => string | null {
  const group = groupMark === undefined ? null : CLASSES[groupMark];
  const whole = group === null ? '\\d+' : `\\d+|\\d{1,3}(?:${group}\\d{2,3})*${group}\\d{3}`;
  const pattern = new RegExp(`^([-\\u2212]?)(${whole})(?:${CLASSES[decimalMark]}(\\d+))?([eE][-+]?\\d{1,3})?$`);
  return (text) => {
    const [, sign, digits, fraction, exponent = ''] = pattern.exec(text) ?? [];
    if (digits === undefined || text.length > CHARACTERS_MAX) return null;
    if (exponent !== '' && /\D/.test(digits)) return null;
    if (decimalMark === 'either' && UNDECIDED.test(text)) return null;
    const decimals = fraction === undefined ? '' : `.${fraction}`;
    return `${sign === '' ? '' : '-'}${digits.replace(/\D/g, '')}${decimals}${exponent}`;
  };
}

/** Removes one sign before the number, even after its minus, and one sign after it. */
function withoutSigns(text: string, signs: readonly string[]): string {
  const [, minus = '', unsigned = ''] = /^([-\u2212]?)\s*(.*)$/s.exec(text) ?? [];
  const before = signs.find((sign) => unsigned.startsWith(sign)) ?? '';
  const rest = unsigned.slice(before.length).trimStart();
  const after = signs.find((sign) => rest.endsWith(sign)) ?? '';
  const number = rest.slice(0, rest.length - after.length).trimEnd();
  return before === '' && after === '' ? text : `${minus}${number}`;
}

/** In words, for errors: "with a comma before its decimals, and groups by '.'". */
export function describeNumberFormat({ decimalMark, groupMark }: NumberFormat): string {
  const decimals = { '.': 'a point', ',': 'a comma', either: 'a point or a comma' }[decimalMark];
  return `with ${decimals} before its decimals, and ${groupMark === undefined ? 'without groups' : `groups by ${JSON.stringify(groupMark)}`}`;
}

/** Explains why a text does not fit the notation of its column, and how the mapping can read it. */
export interface NumberAdvice {
  /** The same for all texts of one kind. */
  readonly kind:
    | 'sign'
    | 'percent'
    | 'hundredths'
    | 'scale'
    | 'undecided'
    | 'mark'
    | 'exponent'
    | 'free'
    | 'word'
    | 'other';
  readonly text: string;
}

/** Words after a number that may multiply it: `128K`, `3.4T`, `1,5 Mio. €`. As signs, they would make the number wrong. */
const SCALE =
  /^(k|m|mm|b|bn|t|tn|tsd|thousands?|mio|mln|mill?|millions?|millionen|mrd|mia|mds?|milliards?|milliarden|billions?|trillions?|lakhs?|lacs?|crores?|cr)(?![\p{L}\d])/iu;

/** In the place of a price they are a known zero, not a missing number. */
export const FREE = /^(free|gratis|gratuit|kostenlos)$/i;

const NO_MONEY = 'If the mapping takes it for money, replace "currency" by "metric" and "unit": "percent"';

export function adviceOnNumber(written: string, format: NumberFormat): NumberAdvice {
  // A sign that the mapping names is not the fault, so it is removed first.
  const text = withoutSigns(written, format.signs ?? []);
  const [, before = '', middle = '', after = ''] = /^[-\u2212]?([^\d.,]*)(.*?\d)([^\d.,]*)$/s.exec(text) ?? [];
  const [sign] = [before.trim(), after.trim()].filter((each) => each !== '' && !/^[-\u2212]$/.test(each));
  const isRead = (each: string) => numberReader(format)(each) !== null;
  const [, words = ''] = /\d\s*(\D+)$/.exec(text) ?? [];
  if (SCALE.test(words)) {
    const what = `has ${JSON.stringify(words)} after the number`;
    const remedy = 'if it multiplies the number, as K does by a thousand, write the number out in the file';
    return { kind: 'scale', text: `${what}: ${remedy}; if it is a unit, add it to number.signs` };
  }
  if (sign !== undefined && (isRead(middle) || otherFormat(middle, format) !== null)) {
    if (format.signs?.includes(sign)) {
      return { kind: 'sign', text: `has the sign ${JSON.stringify(sign)} more than once: correct it in the file` };
    }
    const what = /^\p{Sc}$/u.test(sign) ? 'the currency sign' : 'the text';
    const text = `has ${what} ${JSON.stringify(sign)}: add it to number.signs of the mapping’s value`;
    if (sign === '%') return { kind: 'percent', text: `${text}. ${NO_MONEY}` };
    if (!areHundredths(sign)) return { kind: 'sign', text };
    const hundred = 'If it stands for hundredths of the currency, set quotedQuantity to 100';
    return { kind: 'hundredths', text: `${text}. ${hundred}` };
  }
  if (format.decimalMark === 'either' && UNDECIDED.test(text)) {
    const read = 'may be a thousand and more, or one and some thousandths';
    return { kind: 'undecided', text: `${read}: give the mapping one "decimalMark", or correct the file` };
  }
  if (/\d[eE][+-]?\d+$/.test(text)) {
    return { kind: 'exponent', text: 'is too long, or has groups and a power of ten: write it out in the file' };
  }
  const other = otherFormat(text, format);
  if (other?.groupMark !== undefined && other.decimalMark === format.decimalMark) {
    const groups = `"groupMark": ${JSON.stringify(other.groupMark)}`;
    return { kind: 'mark', text: `has groups by ${JSON.stringify(other.groupMark)}: write ${groups} in number` };
  }
  if (other !== null) {
    return { kind: 'mark', text: `is written ${describeNumberFormat(other)}: say so in number, or in "decimalMark"` };
  }
  if (FREE.test(text)) {
    return { kind: 'free', text: 'if it means zero, write 0 in the file; if not, add it to blankValues' };
  }
  if (!/\d/.test(text)) {
    return { kind: 'word', text: 'if it stands for a missing value, add it to blankValues' };
  }
  return { kind: 'other', text: 'correct it in the file' };
}

/** Another notation that reads the text, if possible with the same decimal mark. */
function otherFormat(text: string, { decimalMark: own }: NumberFormat): NumberFormat | null {
  const marks = [...DECIMAL_MARKS].sort((one, other) => Number(other === own) - Number(one === own));
  const formats = marks.flatMap((decimalMark) =>
    [undefined, ...GROUP_MARKS].map((groupMark): NumberFormat => ({ decimalMark, groupMark })),
  );
  return formats.find((each) => each.decimalMark !== each.groupMark && numberReader(each)(text) !== null) ?? null;
}
