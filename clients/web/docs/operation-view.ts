/** One operation of the reference: how to ask, and what comes back. Pure. */
import { READ_HOST, WRITE_HOST } from '../../../contract/files/example-hosts.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEMS, type ProblemCode } from '../../../contract/problems/problems.ts';
import { FEATURES } from '../../../contract/values/features.ts';
import { type Html, html, joined } from '../pages/html.ts';
import { codeBlock, foldedCode } from './code-block.ts';
import { CONDITIONS, curlOf, neededExamples, variableOf } from './example-shell.ts';
import { inlineMarkdown, markdown } from './markdown.ts';
import {
  type AnswerView,
  type MediaContent,
  OPENAPI,
  OPERATION_VIEWS,
  type OperationView,
  type Parameter,
} from './openapi-view.ts';
import { operationHref } from './reference-groups.ts';
import { limitsOf, schemaView, typeOf } from './schema-view.ts';

export const CONVENTIONS_PAGE = '/docs/reference/conventions';

export function operationView(operation: OperationView): Html {
  const { operationId, method, path, row, summary, deprecated, requestBody, responses } = operation;
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 400) as [string, AnswerView][];
  return html`<section class="operation">
<h2 id="${operationId}">${summary}</h2>
<p class="request-line"><span class="method">${method}</span> <code>${joined(path.split('/'), html`/<wbr>`)}</code></p>
${deprecated === true ? html`<p class="notice">Deprecated: it still works, and new programs should not use it.</p>` : null}
${row.description === undefined ? null : markdown(row.description)}
<dl class="facts">${access(operation)}</dl>
${parameterList('Parameters', operation.parameters)}
${requestBody === undefined ? null : html`<h3>Body</h3>${Object.entries(requestBody.content).map(([type, content]) => bodyView(type, content, null))}`}
<h3>Answers</h3>
${successes.map(([status, answer]) => answerView(status, answer, operationId))}
${problemList(operation.problems)}
<h3>Example</h3>
${needsOf(operation)}
${codeBlock(curlOf(operation))}
</section>`;
}

/** What the example needs before it runs. Null: nothing. */
function needsOf(operation: OperationView): Html | null {
  const condition = CONDITIONS[operation.operationId];
  const needs = [
    ...neededExamples(operation).map((id) => {
      const needed = OPERATION_VIEWS.find(({ operationId }) => operationId === id) as OperationView;
      const variable = variableOf(id);
      const sets = variable === null ? null : html`, which sets <code>${variable}</code>`;
      return html`<a href="${operationHref(needed)}">${needed.summary}</a>${sets}`;
    }),
    ...(condition === undefined ? [] : [inlineMarkdown(condition)]),
  ];
  return needs.length === 0 ? null : html`<p class="limits">Needs: ${joined(needs, '; ')}.</p>`;
}

/** The host, the credential and its limits. */
function access({ row: { scopes, features = [] } }: OperationView): Html {
  if (scopes === null)
    return html`<dt>Base URL</dt><dd>your read host, <code>${READ_HOST}</code></dd><dt>Credential</dt><dd>none: everybody may read it</dd>`;
  const link = (scope: string) => html`<a href="${CONVENTIONS_PAGE}#scopes"><code>${scope}</code></a>`;
  const scope = scopes.length === 0 ? html`any credential is enough` : joined(scopes.map(link), ' or ');
  const limits = features.map(
    (feature) =>
      html`<li>${FEATURES[feature].description}: <a href="${CONVENTIONS_PAGE}#limits"><code>${feature}</code></a></li>`,
  );
  return html`<dt>Base URL</dt><dd>your write host, <code>${WRITE_HOST}</code></dd><dt>Scope</dt><dd>${scope}</dd>${limits.length === 0 ? null : html`<dt>Limits</dt><dd><ul>${limits}</ul></dd>`}`;
}

/** Header fields have one explanation for all operations. */
function parameterList(title: string, parameters: readonly Parameter[]): Html | null {
  if (parameters.length === 0) return null;
  return html`<h3>${title}</h3><ul class="members">${parameters.map((parameter) => {
    const { name, required, description, schema, example } = parameter;
    const need = required === true ? null : html` <span class="optional">optional</span>`;
    if (parameter.in === 'header')
      return html`<li><p class="member"><a href="${CONVENTIONS_PAGE}#${requestFieldId(parameter)}"><code>${name}</code></a> <span class="type">header field</span>${need}</p></li>`;
    return html`<li><p class="member"><code>${name}</code> <span class="type">${typeOf(schema)} in the ${parameter.in}</span>${need}</p>${
      description === undefined ? null : html`<p class="about">${inlineMarkdown(description)}</p>`
    }${limitsOf(schema)}${example === undefined ? null : html`<p class="limits">e.g. <code>${String(example)}</code></p>`}</li>`;
  })}</ul>`;
}

/** The anchor of a header field of requests. Some fields have several meanings. */
export function requestFieldId(parameter: Parameter): string {
  const names = Object.entries(OPENAPI.components.parameters);
  return `request-${names.find(([, one]) => one === parameter)?.[0]}`;
}

function answerView(status: string, { description, headers = {}, content = {} }: AnswerView, id: string): Html {
  // Every answer has these two.
  const names = Object.keys(headers).filter((name) => !name.startsWith('Access-Control-'));
  return html`<div class="answer"><p><span class="status">${status}</span> ${inlineMarkdown(description)}</p>${
    names.length === 0
      ? null
      : html`<p class="limits">With ${joined(
          names.map((name) => html`<a href="${CONVENTIONS_PAGE}#answer-${name}"><code>${name}</code></a>`),
          ', ',
        )}</p>`
  }${Object.entries(content).map(([type, each]) => bodyView(type, each, html`Example of <code>${id}</code>`))}</div>`;
}

/** @param summary of the folded example; null if it is shown elsewhere */
function bodyView(mediaType: string, { schema, example }: MediaContent, summary: Html | null): Html {
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2);
  return html`<p class="limits">${mediaType}</p>${schemaView(schema)}${summary === null || example === undefined ? null : foldedCode(summary, text)}`;
}

/** By status, each with its page. */
function problemList(codes: readonly ProblemCode[]): Html {
  const byStatus = [...Map.groupBy(codes, (code) => PROBLEMS[code].status)].sort(([left], [right]) => left - right);
  return html`<ul class="problems">${byStatus.map(
    ([status, codes]) =>
      html`<li><span class="status">${status}</span> ${joined(
        codes.map((code) => html`<a href="${problemType(code)}">${code}</a>`),
        ', ',
      )}</li>`,
  )}</ul>`;
}
