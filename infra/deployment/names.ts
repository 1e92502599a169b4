/**
 * Names that the stacks of a deployment share. Alarms and the dashboard find functions and the queue by name, not by
 * export: an export that another stack imports cannot be removed in the same deployment.
 */
import type { Configuration } from './configuration.ts';
import type { FunctionName } from './permissions.ts';

type Named = Pick<Configuration, 'name'>;

export function functionName({ name }: Named, which: FunctionName): string {
  return `${name}-${which}`;
}

/** The queue of events that were given up. */
export function failuresName({ name }: Named): string {
  return `${name}-failures`;
}

/** For names that must be unique in the account across regions: it contains the region. */
export function accountWideName({ name, region }: Pick<Configuration, 'name' | 'region'>, what: string): string {
  return `${name}-${region}-${what}`;
}
