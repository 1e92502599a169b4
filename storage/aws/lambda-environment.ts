/** The configuration of a Lambda function, from its environment. Read when the function starts. */

import { ENVIRONMENT } from './names.ts';

export type VariableName = keyof typeof ENVIRONMENT;

/** `process.env`, or the variables of a test. */
export type Variables = { readonly [name: string]: string | undefined };

/**
 * Reads the variables by the names of {@link ENVIRONMENT}. An empty variable counts as missing. Only the stacks set them, so
 * their values were checked with the configuration of the deployment.
 *
 * @throws TypeError that names every missing variable
 */
export function readLambdaEnvironment<Required extends VariableName, Optional extends VariableName = never>(
  variables: Variables,
  { required, optional = [] }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): { readonly [Name in Required]: string } & { readonly [Name in Optional]?: string } {
  const given = [...required, ...optional].flatMap((name) => {
    const value = variables[ENVIRONMENT[name]];
    return value ? [[name, value] as const] : [];
  });
  const values = Object.fromEntries(given) as { [Name in Required]: string } & { readonly [Name in Optional]?: string };
  const missing = required.flatMap((name) => (name in values ? [] : `${ENVIRONMENT[name]} is missing`));
  if (missing.length > 0) throw new TypeError(`This function is not configured: ${missing.join('; ')}.`);
  return values;
}
