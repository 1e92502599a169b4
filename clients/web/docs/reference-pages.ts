/** The reference: a page for each group, the conventions of all operations, and the shared schemas. Pure. See decision 110. */
import { READ_HOST, WRITE_HOST } from '../../../contract/files/example-hosts.ts';
import { SCOPES } from '../../../contract/operations/scopes.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEMS, type ProblemCode } from '../../../contract/problems/problems.ts';
import type { DocsLink, DocsPage } from './docs-page.ts';
import { CONDITIONS, curlOf, neededExamples, variableOf } from './example-shell.ts';
import { FOLDED, headingId } from './markdown.ts';
import {
  type AnswerView,
  isShared,
  type MediaContent,
  OPENAPI,
  OPERATION_VIEWS,
  type OperationView,
  type Parameter,
  schemaNamed,
} from './openapi-view.ts';
import { SCHEMAS_PAGE, schemaText, typeOf } from './schema-text.ts';

export const CONVENTIONS_PAGE = '/docs/reference/conventions';
const ABOVE: readonly DocsLink[] = [{ href: '/docs/#reference', title: 'Reference' }];

/** Pages of the public reads, by the first part of the path after `/api/v1/`. All others are on the page of the tag. */
const PARTS: Readonly<Record<string, { readonly title: string; readonly description: string }>> = {
  compat: {
    title: 'Public reads: other programs',
    description: 'For currency-api clients, beancount, hledger, Ghostfolio and Portfolio Performance.',
  },
  log: {
    title: 'Public reads: log',
    description: 'The signed log of every change: its checkpoint, its lines and its hashes.',
  },
  exports: { title: 'Public reads: exports', description: 'Everything of a day as Parquet, NDJSON and CSV.' },
};

export interface ReferenceGroup extends DocsLink {
  readonly description: string;
  readonly operations: readonly OperationView[];
}

/** A page a tag, and several for the public reads. */
export const REFERENCE_GROUPS: readonly ReferenceGroup[] = OPENAPI.tags.flatMap(({ name, description }) => {
  const operations = OPERATION_VIEWS.filter(({ tags }) => tags[0] === name);
  const partOf = ({ row, path }: OperationView) => (row.scopes === null ? PARTS[path.split('/')[3] ?? ''] : undefined);
  return [...Map.groupBy(operations, partOf)].map(([part, own]) => {
    const texts = part ?? { title: name, description };
    return { ...texts, href: `/docs/reference/${headingId(texts.title)}`, operations: own };
  });
});

export function operationHref(operation: OperationView): string {
  return `${REFERENCE_GROUPS.find(({ operations }) => operations.includes(operation))?.href}#${operation.operationId}`;
}

export const REFERENCE_PAGES: readonly DocsPage[] = [
  {
    title: 'Conventions',
    description: 'The rules of every operation: hosts, credentials, header fields, scopes and limits.',
    href: CONVENTIONS_PAGE,
    above: ABOVE,
    markdown: conventions(),
  },
  ...REFERENCE_GROUPS.map(({ operations, ...group }) => {
    return { ...group, above: ABOVE, markdown: [group.description, ...operations.map(operationText)].join('\n\n') };
  }),
  {
    title: 'Schemas',
    description: 'The bodies that several operations share, member by member.',
    href: SCHEMAS_PAGE,
    above: ABOVE,
    markdown: [
      'The bodies that several operations share. A member is always there, unless it says optional. Null means unknown, never zero.',
      ...Object.keys(OPENAPI.components.schemas)
        .filter(isShared)
        .map((name) => `## ${name} {#${name}}\n\n${schemaText(schemaNamed(name))}`),
    ].join('\n\n'),
  },
];

/** Header fields, scopes and limits, which are explained only here. */
function conventions(): string {
  const { parameters, headers } = OPENAPI.components;
  const field = (id: string, name: string, { description, schema, example }: Omit<Parameter, 'name' | 'in'>): string =>
    `### \`${name}\` {#${id}}\n\n*${typeOf(schema)}*\n\n${description}${example === undefined ? '' : ` E.g. \`${example}\`.`}`;
  const granted = (kind: string, limit: number): string =>
    kind === 'boolean' ? (limit === 0 ? 'no' : 'yes') : limit.toLocaleString('en');
  return `The rules that hold for every operation, so that no page repeats them.

## Rules

${OPENAPI.info.description}

## Hosts

A service has a host of readers and a host of writers. In the examples they are

\`\`\`
${READ_HOST}
${WRITE_HOST}
\`\`\`

\`servers\` in its [OpenAPI document](/api/v1/openapi.json) has both. A self-hosted service has a single host.

The examples need \`curl\`, \`jq\` and your key in the variable \`TIDEMARK_API_KEY\` of the shell. A test runs each of them on a service with the sample.

## Scopes

One of an operation's scopes is enough.

${Object.entries(SCOPES)
  .map(([scope, text]) => `- \`${scope}\`: ${text}`)
  .join('\n')}

## Limits

Writes count against the limits of the credential's subject. \`GET /api/v1/entitlements\` shows yours. A day begins at 00:00 UTC.

${Object.entries(OPENAPI['x-tidemark-features'])
  .map(
    ([name, of]) =>
      `- \`${name}\`: ${of.description}: ${granted(of.kind, of.defaultLimit)}, if nothing else was granted`,
  )
  .join('\n')}

## Header fields of requests

${Object.entries(parameters)
  .map(([id, parameter]) => field(`request-${id}`, parameter.name, parameter))
  .join('\n\n')}

## Header fields of answers

${Object.entries(headers)
  .map(([name, header]) => field(`answer-${name}`, name, header))
  .join('\n\n')}`;
}

/** One operation: its request and its answers. */
function operationText(operation: OperationView): string {
  const { operationId, method, path, row, summary, description, deprecated, requestBody, responses } = operation;
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400) as [string, AnswerView][];
  const host =
    row.scopes === null ? `your read host, \`${READ_HOST}\`. No key is needed` : `your write host, \`${WRITE_HOST}\``;
  return [
    `## ${summary} {#${operationId}}`,
    `\`${method} ${path}\``,
    deprecated === true ? 'Deprecated: it still works, and new programs should not use it.' : null,
    description ?? null,
    `Base URL: ${host}.`,
    operation.parameters.length === 0
      ? null
      : `### Parameters\n\n${operation.parameters.map(parameterText).join('\n')}`,
    ...(requestBody === undefined ? [] : ['### Body', ...Object.entries(requestBody.content).map(bodyText)]),
    '### Answers',
    ...answers.map(answerText),
    problemsText(operation.problems),
    '### Example',
    needsText(operation),
    `\`\`\`sh\n${curlOf(operation)}\n\`\`\``,
  ]
    .filter((part) => part !== null)
    .join('\n\n');
}

/** Header fields have one explanation for all operations. */
function parameterText(parameter: Parameter): string {
  const { name, required, description, schema, example } = parameter;
  const optional = required === true ? '' : ', optional';
  if (parameter.in === 'header') {
    const [id] = Object.entries(OPENAPI.components.parameters).find(([, one]) => one === parameter) ?? [];
    return `- [\`${name}\`](${CONVENTIONS_PAGE}#request-${id}) *header field${optional}*`;
  }
  const about = [description, example === undefined ? null : `E.g. \`${example}\`.`].filter(Boolean).join(' ');
  return `- \`${name}\` *${typeOf(schema)}, in the ${parameter.in}${optional}*${about === '' ? '' : `  \n  ${about}`}`;
}

function answerText([status, { description, headers = {}, content = {} }]: [string, AnswerView]): string {
  // Every answer has these two fields, so they are left out.
  const names = Object.keys(headers).filter((name) => !name.startsWith('Access-Control-'));
  const links = names.map((name) => `[\`${name}\`](${CONVENTIONS_PAGE}#answer-${name})`);
  const examples = Object.values(content).flatMap(({ example }) => (example === undefined ? [] : [example]));
  return [
    `**${status}** ${description}`,
    ...(links.length === 0 ? [] : [`With ${links.join(', ')}`]),
    ...Object.entries(content).map(bodyText),
    ...examples.map(
      (one) => `\`\`\`${FOLDED}\n${typeof one === 'string' ? one : JSON.stringify(one, null, 2)}\n\`\`\``,
    ),
  ].join('\n\n');
}

function bodyText([mediaType, { schema }]: [string, MediaContent]): string {
  return `\`${mediaType}\` ${schemaText(schema)}`;
}

/** By status, each with its page. */
function problemsText(codes: readonly ProblemCode[]): string {
  const byStatus = [...Map.groupBy(codes, (code) => PROBLEMS[code].status)].sort(([left], [right]) => left - right);
  const links = (each: readonly ProblemCode[]) => each.map((code) => `[${code}](${problemType(code)})`).join(', ');
  return byStatus.map(([status, each]) => `- ${status}: ${links(each)}`).join('\n');
}

/** The values and conditions that the example needs. Null: none. */
function needsText(operation: OperationView): string | null {
  const condition = CONDITIONS[operation.operationId];
  const needs = neededExamples(operation).map((id) => {
    const needed = OPERATION_VIEWS.find(({ operationId }) => operationId === id) as OperationView;
    const variable = variableOf(id);
    return `[${needed.summary}](${operationHref(needed)})${variable === null ? '' : `, which sets \`${variable}\``}`;
  });
  const all = [...needs, ...(condition === undefined ? [] : [condition])];
  return all.length === 0 ? null : `Needs: ${all.join('; ')}.`;
}
