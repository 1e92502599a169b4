/** A page for each problem, at the URL that is its `type`, and the list of all. Pure. */

import { historyTooLongDocument } from '../../../contract/bodies/history-files.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_WORDS } from '../../../contract/problems/problem-words.ts';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, problem } from '../../../contract/problems/problems.ts';
import { html, joined } from '../pages/html.ts';
import { codeBlock } from './code-block.ts';
import { docsPage } from './docs-page.ts';
import { inlineMarkdown } from './markdown.ts';
import { OPERATION_VIEWS, schemaNamed } from './openapi-view.ts';
import { operationHref, REFERENCE_GROUPS } from './reference-groups.ts';
import { fileOf } from './reference-pages.ts';

export const PROBLEMS_PAGE = '/docs/problems';

/** By the path of the file. */
export function problemPages(): readonly (readonly [string, string])[] {
  return [
    [fileOf(PROBLEMS_PAGE), problemsPage()],
    ...PROBLEM_CODES.map((code) => [fileOf(problemType(code)), problemPage(code)] as const),
  ];
}

function problemPage(code: ProblemCode): string {
  const { title, status } = PROBLEMS[code];
  const { meaning, remedy } = PROBLEM_WORDS[code];
  return docsPage({
    title,
    description: `${status} ${code}: the cause of this problem, and the remedy.`,
    above: [
      { href: '/docs/', title: 'Docs' },
      { href: PROBLEMS_PAGE, title: 'Problems' },
    ],
    lead: html`<p><span class="status">${status}</span> <code>${code}</code></p>`,
    contents: [],
    body: html`<h2>Meaning</h2>
<p>${inlineMarkdown(meaning)}</p>
<h2>Remedy</h2>
<p>${inlineMarkdown(remedy)}</p>
<h2>Example</h2>
${codeBlock(JSON.stringify(exampleOf(code), null, 2))}
<p class="small soft"><code>application/problem+json</code> (RFC 9457). <code>code</code>, <code>type</code> and <code>title</code> are stable. <code>detail</code> is for people, and differs.</p>
<h2>Operations</h2>
${operationsWith(code)}`,
  });
}

const REMOVAL = { reason: 'It was listed twice.', replacedBy: 'gold-usd', removedAt: '2026-11-20T12:00:00.000Z' };

/** The document of the contract where there is one; otherwise a problem with a `detail` that a service sends. */
function exampleOf(code: ProblemCode): unknown {
  if (code === 'market-removed') return removedMarketDocument(REMOVAL);
  if (code === 'history-too-long') return historyTooLongDocument('gold-usd', 'csv', null, ['2025', '2026']);
  if (code === 'validation-failed') return schemaNamed('Problem').examples?.[0];
  return problem(code, PROBLEM_WORDS[code].detail);
}

function operationsWith(code: ProblemCode) {
  const groups = REFERENCE_GROUPS.map(({ title, operations }) => ({
    title,
    operations: operations.filter(({ problems }) => problems.includes(code)),
  })).filter(({ operations }) => operations.length > 0);
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  if (count === 0)
    return html`<p>A request can be refused so before its operation is known, or at a file that no operation of the reference describes.</p>`;
  const list = html`<dl class="facts">${groups.map(
    ({ title, operations }) =>
      html`<dt>${title}</dt><dd>${joined(
        operations.map((operation) => html`<a href="${operationHref(operation)}">${operation.operationId}</a>`),
        ', ',
      )}</dd>`,
  )}</dl>`;
  if (count <= 12) return list;
  return html`<details class="fold"><summary>${count} of ${OPERATION_VIEWS.length} operations</summary>${list}</details>`;
}

function problemsPage(): string {
  return docsPage({
    title: 'Problems',
    description: 'Every problem that a service answers with, by status.',
    above: [{ href: '/docs/', title: 'Docs' }],
    lead: html`<p>A refused request is answered with a <a href="/docs/reference/schemas#Problem">problem document</a>. Programs decide by its <code>code</code>; its <code>type</code> is the address of a page below.</p>`,
    contents: [],
    body: html`<ul class="problems">${PROBLEM_CODES.map(
      (code) =>
        html`<li><span class="status">${PROBLEMS[code].status}</span> <a href="${problemType(code)}"><code>${code}</code></a> <span class="soft">${PROBLEMS[code].title}</span></li>`,
    )}</ul>`,
  });
}
