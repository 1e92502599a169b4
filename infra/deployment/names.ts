/**
 * Names that the stacks of a deployment share. Alarms and the dashboard refer to functions and the queue by name, not by
 * export: an export that another stack imports cannot be removed in the same deployment.
 */
import { Aws } from 'aws-cdk-lib';
import type { Configuration } from './configuration.ts';
import type { FunctionName } from './permissions.ts';

type Named = Pick<Configuration, 'name'>;

export function functionName({ name }: Named, which: FunctionName): string {
  return `${name}-${which}`;
}

/** The queue of events after their last retry. */
export function failuresName({ name }: Named): string {
  return `${name}-failures`;
}

/** The bucket of the second region. The stacks of the first region refer to it by this name. */
export function secondBucketName({ name }: Named, secondRegion: string): string {
  return `${name}-public-${secondRegion}-${Aws.ACCOUNT_ID}`;
}

/** A name that is unique in the account across regions: it contains the region. */
export function accountWideName({ name, region }: Pick<Configuration, 'name' | 'region'>, what: string): string {
  return `${name}-${region}-${what}`;
}
