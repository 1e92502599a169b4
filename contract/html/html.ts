/** HTML text from templates: every inserted value is escaped. Pure. */
import type { TemplateSlot } from './html-parts.ts';
import { escapedHtml } from './html-text.ts';

/** Text that is HTML already. Only {@link html} and {@link trustedHtml} create it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The tag of a template. Strings and numbers are escaped, for text and for quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...values: readonly TemplateSlot<Html>[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(textOf)));
}

/** Marks HTML that another renderer has made from this project's own files. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

function textOf(value: TemplateSlot<Html>): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return escapedHtml(String(value));
}
