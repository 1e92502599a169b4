/** A JSON Schema as nested lists that people read. Pure. */
import { type Html, html, joined } from '../pages/html.ts';
import { inlineMarkdown } from './markdown.ts';
import { isShared, nameOf, type Schema, schemaNamed } from './openapi-view.ts';

export const SCHEMAS_PAGE = '/docs/reference/schemas';

/** A short name of the type, and the list of its parts where it has parts. */
interface Shown {
  readonly type: Html;
  readonly parts: Html | null;
}

/** A whole schema: its type, description, limits, and parts. */
export function schemaView(schema: Schema): Html {
  const { type, parts } = shown(schema);
  return html`<div class="schema"><p class="schema-type">${type}</p>${about(schema)}${parts}</div>`;
}

/** The type alone, in words: `string, date-time`, `list of Market`, `integer or null`. */
export function typeOf(schema: Schema): Html {
  return shown(schema).type;
}

/** Limits in words; null if there are none. */
export function limitsOf(schema: Schema, about = ''): Html | null {
  const texts = limitTexts(withoutNull(schema).value);
  return texts.length === 0 ? null : html`<p class="limits">${about}${joined(texts, ' · ')}</p>`;
}

function shown(schema: Schema): Shown {
  const { value, isNullable } = withoutNull(schema);
  const { type, parts } = shownValue(value);
  return { type: isNullable ? html`${type} or null` : type, parts };
}

function shownValue(schema: Schema): Shown {
  const { $ref, allOf, type = 'any', items, properties, additionalProperties, contentSchema } = schema;
  if ($ref !== undefined) return shownReference(nameOf($ref));
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return shownChoices(choices);
  // A reference with a description of its own, or several limits of one text.
  if (allOf !== undefined) return shownValue(allOf[0] as Schema);
  if (contentSchema !== undefined) return { type: html`lines of ${typeOf(contentSchema)}`, parts: null };
  if (type === 'array' && items !== undefined) {
    const { type, parts } = shown(items);
    const limits = parts === null && items.$ref === undefined ? limitsOf(items) : null;
    return { type: html`list of ${type}`, parts: html`${limits}${parts}` };
  }
  if (properties !== undefined) return { type: html`object`, parts: members(schema) };
  if (typeof additionalProperties === 'object') return shownMap(schema, additionalProperties);
  if (schema.const !== undefined)
    return { type: html`always <code>${JSON.stringify(schema.const)}</code>`, parts: null };
  return { type: html`${type}`, parts: null };
}

/** A schema with one place is shown there. A map or a list of names leads to the page of schemas. */
function shownReference(name: string): Shown {
  if (isShared(name)) return { type: html`<a href="${SCHEMAS_PAGE}#${name}">${name}</a>`, parts: null };
  const schema = schemaNamed(name);
  const { type, parts } = shown(schema);
  return { type, parts: html`${about(schema)}${parts}` };
}

function shownChoices(choices: readonly Schema[]): Shown {
  const views = choices.map((choice) => ({ ...shown(choice), choice }));
  if (views.every(({ parts, choice }) => parts === null && limitsOf(choice) === null)) {
    return {
      type: joined(
        views.map(({ type }) => type),
        ' or ',
      ),
      parts: null,
    };
  }
  return {
    type: html`one of`,
    parts: html`<ul class="choices">${views.map(
      ({ type, parts, choice }) => html`<li><p class="schema-type">${type}</p>${about(choice)}${parts}</li>`,
    )}</ul>`,
  };
}

function shownMap({ properties, propertyNames }: Schema, values: Schema): Shown {
  const { type, parts } = shown(values);
  return {
    type: html`map of ${type}`,
    parts: html`${properties === undefined ? null : members({ properties })}${propertyNames === undefined ? null : limitsOf(propertyNames, 'names: ')}${parts}`,
  };
}

function members({ properties = {}, required = [] }: Schema): Html {
  return html`<ul class="members">${Object.entries(properties).map(([name, schema]) => {
    const { type, parts } = shown(schema);
    const optional = required.includes(name) ? null : html` <span class="optional">optional</span>`;
    return html`<li><p class="member"><code>${name}</code> <span class="type">${type}</span>${optional}</p>${about(schema)}${parts}</li>`;
  })}</ul>`;
}

/** Description and limits. */
function about(schema: Schema): Html {
  const { value } = withoutNull(schema);
  const description = schema.description ?? value.description;
  return html`${description === undefined ? null : html`<p class="about">${inlineMarkdown(description)}</p>`}${limitsOf(schema)}`;
}

function limitTexts(schema: Schema): Html[] {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems, uniqueItems } = schema;
  const texts: (Html | null)[] = [
    schema.enum === undefined
      ? null
      : html`one of ${joined(
          schema.enum.map((one) => html`<code>${JSON.stringify(one)}</code>`),
          ' ',
        )}`,
    format === undefined || format === 'int64' ? null : html`${format}`,
    range(minLength, maxLength, 'characters'),
    range(safe(minimum), safe(maximum), ''),
    range(minItems, maxItems, 'items'),
    uniqueItems === true ? html`no item twice` : null,
    // Of a URL the description says what is allowed, in words.
    pattern === undefined || format === 'uri' ? null : html`pattern <code>${pattern}</code>`,
    schema.default === undefined ? null : html`default <code>${JSON.stringify(schema.default)}</code>`,
  ];
  return [...texts.filter((text) => text !== null), ...(schema.allOf ?? []).flatMap(limitTexts)];
}

function range(least: number | undefined, most: number | undefined, unit: string): Html | null {
  const number = (value: number) => value.toLocaleString('en');
  if (least === undefined && most === undefined) return null;
  if (least === undefined || most === undefined)
    return html`${least === undefined ? 'at most' : 'at least'} ${number((least ?? most) as number)} ${unit}`;
  return least === most ? html`${number(least)} ${unit}` : html`${number(least)} to ${number(most)} ${unit}`;
}

/** The bounds of JavaScript's integers are no limit that a reader asks for. */
function safe(bound: number | undefined): number | undefined {
  return bound !== undefined && Math.abs(bound) === Number.MAX_SAFE_INTEGER ? undefined : bound;
}

/** `X or null` is written as a choice, or as two types. What stands beside them belongs to X. */
function withoutNull(schema: Schema): { readonly value: Schema; readonly isNullable: boolean } {
  const { anyOf, type, ...beside } = schema;
  if (typeof type === 'object') {
    const types = type.filter((each) => each !== 'null');
    return { value: { ...schema, type: types.join(' or ') }, isNullable: types.length < type.length };
  }
  const others = anyOf?.filter(({ type }) => type !== 'null');
  if (anyOf === undefined || others === undefined || others.length === anyOf.length) {
    return { value: schema, isNullable: false };
  }
  return { value: { ...beside, ...(others.length === 1 ? others[0] : { anyOf: others }) }, isNullable: true };
}
