/** Numbers in CSV files, as people write them. */

export const DECIMAL_MARKS = ['.', ','] as const;
/** A space also stands for the narrow and the non-breaking one, and `'` for the typographic apostrophe. */
export const GROUP_MARKS = ['.', ',', ' ', "'"] as const;

/** How a file writes numbers. */
export interface NumberFormat {
  readonly decimalMark: (typeof DECIMAL_MARKS)[number];
  /** Between groups of digits; without it, a number has no groups. */
  readonly groupMark?: (typeof GROUP_MARKS)[number] | undefined;
  /** Of decimals. Kept, unless it says `drop`. */
  readonly trailingZeros?: 'keep' | 'drop' | undefined;
}

const CLASSES = { '.': '\\.', ',': ',', ' ': '[ \\u00a0\\u2009\\u202f]', "'": "['\\u2019]" } as const;

/** Of the digits of a number, also when its exponent is written out. No price needs more. */
const CHARACTERS_MAX = 64;

/**
 * Makes the function that reads a number. It gives plain decimal text (see `decimalSchema`), or null for text that is
 * not written in this way. The last group has three digits, the others two (as in India) or three: so `1.5` and `1.50`
 * are never taken for groups. Numbers without groups may have an exponent, as programs write it: `4e+06` is `4000000`,
 * and no digit is changed.
 */
export function numberReader({ decimalMark, groupMark, trailingZeros }: NumberFormat): (text: string) => string | null {
  const read = plainReader(decimalMark, groupMark);
  if (trailingZeros !== 'drop') return read;
  return (text) =>
    read(text)
      ?.replace(/(\.\d*?)0+$/, '$1')
      .replace(/\.$/, '') ?? null;
}

function plainReader(
  decimalMark: NumberFormat['decimalMark'],
  groupMark: NumberFormat['groupMark'],
): (text: string) => string | null {
  const group = groupMark === undefined ? null : CLASSES[groupMark];
  const whole = group === null ? '\\d+' : `\\d+|\\d{1,3}(?:${group}\\d{2,3})*${group}\\d{3}`;
  const pattern = new RegExp(`^([-\\u2212]?)(${whole})(?:${CLASSES[decimalMark]}(\\d+))?(?:[eE]([-+]?\\d{1,3}))?$`);
  return (text) => {
    const [, sign, digits, fraction, exponent] = pattern.exec(text) ?? [];
    if (digits === undefined || text.length > CHARACTERS_MAX) return null;
    const minus = sign === '' ? '' : '-';
    if (exponent !== undefined) {
      const plain = /\D/.test(digits) ? null : writtenOut(digits, fraction ?? '', Number(exponent));
      return plain === null || minus.length + plain.length > CHARACTERS_MAX ? null : minus + plain;
    }
    return `${minus}${digits.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`;
  };
}

/** Moves the decimal point. All digits stay, zeros at the end too. */
function writtenOut(whole: string, fraction: string, exponent: number): string {
  const point = whole.length + exponent;
  const digits = '0'.repeat(Math.max(0, 1 - point)) + whole + fraction;
  const place = Math.max(1, point);
  const padded = digits.padEnd(place, '0');
  const left = padded.slice(0, place).replace(/^0+(?=\d)/, '');
  return place === padded.length ? left : `${left}.${padded.slice(place)}`;
}

/** In words, for errors: "with a decimal comma, and groups by '.'". */
export function describeNumberFormat({ decimalMark, groupMark }: NumberFormat): string {
  const decimals = decimalMark === ',' ? 'a comma' : 'a point';
  return `with ${decimals} before its decimals, and ${groupMark === undefined ? 'without groups' : `groups by ${JSON.stringify(groupMark)}`}`;
}
