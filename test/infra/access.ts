/** The permissions of each function's role, read from the template as IAM reads it. */
import type { Template } from 'aws-cdk-lib/assertions';
import type { FunctionName } from '../../infra/deployment/permissions.ts';
import type { Statement } from './recorded-access.ts';
import { MINIMAL, type Properties, resourceOf, SECOND_REGION } from './synthesised.ts';
import { synthesised } from './templates.ts';

const roles = new Map<FunctionName, readonly Statement[]>();

/** The role of a function, in a deployment with as little as possible; `copy` exists only beside a second region. */
export function roleOf(name: FunctionName): readonly Statement[] {
  const context = name === 'copy' ? SECOND_REGION : MINIMAL;
  const role = roles.get(name) ?? statementsOf(synthesised(context)('api'), name);
  roles.set(name, role);
  return role;
}

/** All statements of a function's role, with imports and the parts of names put into one line. */
function statementsOf(api: Template, name: FunctionName): readonly Statement[] {
  const role = resourceOf(api, 'AWS::IAM::Role', `${name.replaceAll('-', '')}Role`).Properties;
  const documents: Properties[] = role.Policies.map(({ PolicyDocument }: Properties) => PolicyDocument);
  return documents.flatMap(({ Statement }) =>
    Statement.map(({ Effect, Action, Resource, Condition }: Properties) => ({
      Effect,
      Action: [Action].flat(),
      Resource: [Resource].flat().map(inWords),
      ...(Condition === undefined ? {} : { Condition }),
    })),
  );
}

/** An ARN without the parts that depend on the deployment, e.g. `<PublicObjects>/redo/*`. */
function inWords(resource: Properties): string {
  if (typeof resource === 'string') return resource;
  if (resource.Ref) return `<${withoutHash(resource.Ref)}>`;
  if (resource['Fn::ImportValue']) {
    const [, id, attribute = ''] = IMPORTED.exec(resource['Fn::ImportValue']) as RegExpExecArray;
    return `<${id}${/^(Arn)?$/.test(attribute) ? '' : ` ${attribute}`}>`;
  }
  if (resource['Fn::GetAtt']) return `<${withoutHash(resource['Fn::GetAtt'][0])}>`;
  if (resource['Fn::Join']) return resource['Fn::Join'][1].map(inWords).join('');
  throw new Error(`not a resource of a policy: ${JSON.stringify(resource)}`);
}

const withoutHash = (id: string) => id.replace(/[0-9A-F]{8}$/, '');

/** CDK's name of an export: the logical id, usually with a hash; the attribute; then another hash. */
const IMPORTED = /ExportsOutput(?:Ref|FnGetAtt)(\w+?)(?:[0-9A-F]{8}(\w*?))?[0-9A-F]{8}$/;
