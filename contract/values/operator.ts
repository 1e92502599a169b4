/** Who operates a service, and on which terms its data may be used, as its pages say it. Nothing is said by default. */
import * as z from 'zod';
import { waitlistEmailSchema } from './waitlist.ts';

/** Where a built page says it: {@link operatorHtml} stands there once the page is published. */
export const OPERATOR_PLACE = '<p class="operator" hidden></p>';

const line = z
  .string()
  .min(1)
  .max(120)
  .regex(/^[^\p{C}]+$/u, 'must be one line');
const webUrl = z.url({ protocol: /^https?$/ }).max(2_048);

export const operatorSchema = z.strictObject({
  /** A person or an organisation. */
  name: line.optional(),
  /** An e-mail address, or the URL of a page. */
  contact: z.union([waitlistEmailSchema, webUrl], 'must be an e-mail address, or an http or https URL').optional(),
  /** The licence of the data: a name such as `CC-BY-4.0`, or a URL. */
  licence: line.optional(),
});

export type Operator = Readonly<z.infer<typeof operatorSchema>>;

/** Empty if the operator says nothing. `tidemark doctor` reads which facts a page states from `data-states`. */
export function operatorHtml({ name, contact, licence }: Operator): string {
  const facts = [
    name === undefined ? null : (['name', `Operated by ${escaped(name)}`] as const),
    contact === undefined ? null : (['contact', `Contact: ${linkTo(contact)}`] as const),
    licence === undefined ? null : (['licence', `Data licence: ${linkTo(licence)}`] as const),
  ].filter((fact) => fact !== null);
  if (facts.length === 0) return '';
  const states = facts.map(([fact]) => fact).join(' ');
  return `<p class="operator" data-states="${states}">${facts.map(([, text]) => `<span>${text}</span>`).join(' ')}</p>`;
}

function linkTo(text: string): string {
  const href = webUrl.safeParse(text).success
    ? text
    : waitlistEmailSchema.safeParse(text).success
      ? `mailto:${text}`
      : null;
  return href === null ? escaped(text) : `<a href="${escaped(href)}">${escaped(text.replace(/^https?:\/\//, ''))}</a>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
