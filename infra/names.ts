/**
 * Names that a deployment's stacks agree on. Alarms and the dashboard find functions and the queue by name, so that one of
 * them can go in a single deployment: an export that another stack imports cannot be removed.
 */
import type { Configuration } from './configuration.ts';
import type { FunctionName } from './permissions.ts';

type Named = Pick<Configuration, 'name'>;

export function functionName({ name }: Named, which: FunctionName): string {
  return `${name}-${which}`;
}

/** The queue of what was given up. */
export function failuresName({ name }: Named): string {
  return `${name}-failures`;
}

/** For names that are unique in the account, whatever the region: a deployment in another region has others. */
export function accountWideName({ name, region }: Pick<Configuration, 'name' | 'region'>, what: string): string {
  return `${name}-${region}-${what}`;
}
