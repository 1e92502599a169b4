/** References in templates, resolved to existing resources. Only the part of CloudFormation that our stacks use. */
import type { Properties } from '../../infra/synthesised.ts';

export const REGION = 'us-east-1';
export const ACCOUNT = '123456789012';

/** Of each stack by its short name, such as `data`. */
export type Templates = ReadonlyMap<string, Properties>;

/**
 * The value of a reference to a resource, by stack, id without its hash, and attribute, such as `data/Ledger.StreamArn`;
 * `Ref` is the attribute of a plain reference.
 */
export type Physical = Readonly<Record<string, string>>;

/** The properties of the only resource with this id, its hash apart. */
export function propertiesOf(templates: Templates, stack: string, id: string): Properties {
  const found = Object.entries<Properties>(templates.get(stack).Resources).filter(([key]) => withoutHash(key) === id);
  if (found.length !== 1) throw new Error(`${found.length} resources ${id} in ${stack}, not one`);
  return found[0]?.[1].Properties;
}

const PSEUDO_PARAMETERS: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::Region': REGION,
  'AWS::AccountId': ACCOUNT,
};

/** @throws RangeError for an unknown reference */
export function resolved(value: unknown, stack: string, templates: Templates, physical: Physical): unknown {
  const resolve = (inner: unknown) => resolved(inner, stack, templates, physical);
  if (Array.isArray(value)) return value.map(resolve);
  if (typeof value !== 'object' || value === null) return value;
  const [[name = '', argument] = [], ...others] = Object.entries(value) as [string, Properties][];
  if (others.length === 0) {
    if (name === 'Ref') {
      return PSEUDO_PARAMETERS[argument] ?? referred(stack, argument, 'Ref', templates, physical);
    }
    if (name === 'Fn::GetAtt') return referred(stack, argument[0], argument[1], templates, physical);
    if (name === 'Fn::Join') return argument[1].map(resolve).join(argument[0]);
    if (name === 'Fn::Select') return (resolve(argument[1]) as readonly unknown[])[argument[0]];
    if (name === 'Fn::Split') return (resolve(argument[1]) as string).split(argument[0]);
    if (name === 'Fn::ImportValue') {
      const exporter = argument.split(':')[0].replace(/^tidemark-/, '');
      const outputs = Object.values<Properties>(templates.get(exporter).Outputs);
      const output = outputs.find(({ Export }) => Export?.Name === argument);
      return resolved(output.Value, exporter, templates, physical);
    }
    if (name.startsWith('Fn::')) throw new RangeError(`no such function of templates: ${name}`);
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
}

function referred(stack: string, id: string, attribute: string, templates: Templates, physical: Physical): string {
  const { Type, Properties } = templates.get(stack).Resources[id];
  if (Type === 'AWS::Lambda::Alias')
    return `${referred(stack, Properties.FunctionName.Ref, 'Arn', templates, physical)}:${Properties.Name}`;
  if (Type === 'AWS::Lambda::Function')
    return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${Properties.FunctionName}`;
  const name = `${stack}/${withoutHash(id)}.${attribute}`;
  const value = physical[name];
  if (value === undefined) throw new RangeError(`nothing stands for ${name}`);
  return value;
}

/** CDK ends ids with a hash of where the resource is in the tree. */
export function withoutHash(id: string): string {
  return id.replace(/[0-9A-F]{8}$/, '');
}
