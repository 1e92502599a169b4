/** The patterns by which EventBridge rules and event source mappings choose events: as much of them as our stacks use. */

/** Fields with lists of accepted values, one of which must match: a literal, or `{ prefix }`; or patterns of fields. */
export interface EventPattern {
  readonly [field: string]: EventPattern | readonly (string | { readonly prefix: string })[];
}

/** @throws RangeError for an operator that is not known here. */
export function matches(pattern: EventPattern, event: unknown): boolean {
  return Object.entries(pattern).every(([field, wanted]) => {
    const value = (event as Record<string, unknown> | null | undefined)?.[field];
    if (!isList(wanted)) return matches(wanted, value);
    return wanted.some((one) => {
      if (typeof one === 'string') return one === value;
      if (Object.keys(one).join() !== 'prefix') throw new RangeError(`no such operator: ${JSON.stringify(one)}`);
      return typeof value === 'string' && value.startsWith(one.prefix);
    });
  });
}

function isList(wanted: EventPattern[string]): wanted is readonly (string | { readonly prefix: string })[] {
  return Array.isArray(wanted);
}
