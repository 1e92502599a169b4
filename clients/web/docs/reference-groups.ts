/** How the reference is divided: a page a tag, and several for the public reads. Pure. */

import { FEED_SCOPES, type Scope, USER_SCOPES } from '../../../contract/operations/scopes.ts';
import { headingId } from './markdown.ts';
import { OPENAPI, OPERATION_VIEWS, type OperationView } from './openapi-view.ts';

export interface ReferenceGroup {
  readonly title: string;
  readonly description: string;
  readonly href: string;
  readonly audience: Audience;
  readonly operations: readonly OperationView[];
}

/** Who has a credential for the operations of a group. */
export type Audience = 'readers' | 'key holders' | 'operators';

const SCOPES_OF_KEY_HOLDERS: readonly Scope[] = [...USER_SCOPES, ...FEED_SCOPES];

/** Parts of the public reads, by the part of the path behind `/api/v1/`. All others are on the page of the tag. */
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

export const REFERENCE_GROUPS: readonly ReferenceGroup[] = OPENAPI.tags.flatMap(({ name, description }) => {
  const operations = OPERATION_VIEWS.filter(({ tags }) => tags[0] === name);
  const byPart = Map.groupBy(operations, (operation) => (operation.row.scopes === null ? partOf(operation) : ''));
  return [...byPart].map(([part, operations]) => {
    const texts = PARTS[part] ?? { title: name, description };
    return {
      ...texts,
      href: `/docs/reference/${headingId(texts.title)}`,
      audience: audienceOf(operations),
      operations,
    };
  });
});

function audienceOf(operations: readonly OperationView[]): Audience {
  const scopes = operations.map(({ row }) => row.scopes);
  if (scopes.every((each) => each === null)) return 'readers';
  const isForKeyHolders = (each: readonly Scope[] | null) =>
    each?.length === 0 || each?.some((scope) => SCOPES_OF_KEY_HOLDERS.includes(scope));
  return scopes.some(isForKeyHolders) ? 'key holders' : 'operators';
}

function partOf({ path }: OperationView): string {
  const part = path.split('/')[3] as string;
  return part in PARTS ? part : '';
}

/** The address of an operation in the reference. */
export function operationHref(operation: OperationView): string {
  const group = REFERENCE_GROUPS.find(({ operations }) => operations.includes(operation)) as ReferenceGroup;
  return `${group.href}#${operation.operationId}`;
}
