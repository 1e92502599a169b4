/** Makes texts of services, files and logs safe to print: a terminal must not execute commands in them. */

/**
 * Terminal controls (C0, DEL and C1, except tab and line feed), and characters that change the direction or the lines of the
 * text around them. Also unpaired surrogates, which have no bytes in UTF-8.
 */
const UNPRINTABLE = /[\p{Cc}--[\n\t]]|\p{Bidi_Control}|[\u2028\u2029]|\p{Cs}/gv;

/** Each such character is shown as `\u009b`. In the text of a JSON document this is the same character as before. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
