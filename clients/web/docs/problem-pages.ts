/** A page for each problem, at the URL that is its `type`, and the list of all. Pure. */
import { historyTooLongDocument } from '../../../contract/bodies/history-files.ts';
import { removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { problemType } from '../../../contract/problems/edge-problems.ts';
import { PROBLEM_WORDS } from '../../../contract/problems/problem-words.ts';
import { PROBLEM_CODES, PROBLEMS, type ProblemCode, problem } from '../../../contract/problems/problems.ts';
import type { DocsPage } from './docs-page.ts';
import { schemaNamed } from './openapi-view.ts';
import { operationHref, REFERENCE_GROUPS } from './reference-pages.ts';

export const PROBLEMS_PAGE = '/docs/problems';
const REMOVAL = { reason: 'It was listed twice.', replacedBy: 'gold-usd', removedAt: '2026-11-20T12:00:00.000Z' };

export const PROBLEMS_LIST: DocsPage = {
  title: 'Problems',
  description: 'Every problem that a service answers with, by status.',
  href: PROBLEMS_PAGE,
  above: [],
  markdown: `A refused request is answered with a [problem document](/docs/reference/schemas#Problem). Programs decide by its \`code\`; its \`type\` is the address of a page below.

${PROBLEM_CODES.map((code) => `- ${PROBLEMS[code].status} [\`${code}\`](${problemType(code)}) ${PROBLEMS[code].title}`).join('\n')}`,
};

export const PROBLEM_PAGES: readonly DocsPage[] = PROBLEM_CODES.map((code) => {
  const { title, status } = PROBLEMS[code];
  const { meaning, remedy } = PROBLEM_WORDS[code];
  return {
    title,
    description: `${status} ${code}: the cause of this problem, and the remedy.`,
    href: problemType(code),
    above: [{ href: PROBLEMS_PAGE, title: 'Problems' }],
    markdown: `**${status}** \`${code}\`

## Meaning

${meaning}

## Remedy

${remedy}

## Example

\`\`\`json
${JSON.stringify(exampleOf(code), null, 2)}
\`\`\`

\`application/problem+json\` (RFC 9457). \`code\`, \`type\` and \`title\` are stable. \`detail\` is for people, and differs.

## Operations

${operationsWith(code)}`,
  };
});

/** The document of the contract if there is one; otherwise a problem with a typical `detail`. */
function exampleOf(code: ProblemCode): unknown {
  if (code === 'market-removed') return removedMarketDocument(REMOVAL);
  if (code === 'history-too-long') return historyTooLongDocument('gold-usd', 'csv', null, ['2025', '2026']);
  if (code === 'validation-failed') return schemaNamed('Problem').examples?.[0];
  return problem(code, PROBLEM_WORDS[code].detail);
}

function operationsWith(code: ProblemCode): string {
  const lines = REFERENCE_GROUPS.flatMap(({ title, operations }) => {
    const own = operations.filter(({ problems }) => problems.includes(code));
    const links = own.map((operation) => `[${operation.operationId}](${operationHref(operation)})`);
    return links.length === 0 ? [] : [`- ${title}: ${links.join(', ')}`];
  });
  if (lines.length > 0) return lines.join('\n');
  return 'A request can be refused so before its operation is known, or at a file that no operation of the reference describes.';
}
