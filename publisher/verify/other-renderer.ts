/** Another version of the program may give other bytes for the same records. Then `verify` cannot compare contents. */
import { OPENAPI_URL } from '../../contract/files/routes.ts';
import { RENDERER_VERSION } from '../core/bodies/render.ts';
import { RENDERER_MEMBER } from '../static-bodies.ts';
import type { PublicReader } from './reading/reader.ts';
import type { Finding, VerifyRule } from './report.ts';

const ABOUT_CONTENTS: ReadonlySet<VerifyRule> = new Set(['not-in-log', 'schema', 'file']);

export interface OtherRenderer {
  /** It stays a finding, because the document is not signed: a host could name any version. */
  readonly finding: Finding;
  /** The findings that the other version does not explain. */
  readonly others: readonly Finding[];
}

/** Null: the service renders as this program, or does not say how, or no finding is about contents. */
export async function otherRenderer(reader: PublicReader, findings: readonly Finding[]): Promise<OtherRenderer | null> {
  const others = findings.filter(({ rule }) => !ABOUT_CONTENTS.has(rule));
  if (others.length === findings.length) return null;
  const { status, body } = await reader(OPENAPI_URL);
  const version = status === 200 ? versionIn(body) : null;
  if (version === null || version === RENDERER_VERSION) return null;
  const detail =
    `the service says that it renders by version ${version}, and this program renders by version ${RENDERER_VERSION}: contents cannot be compared, and ` +
    `${findings.length - others.length} findings about them are left out (--json has them). Use the program of the service.`;
  return { finding: { url: OPENAPI_URL, rule: 'file', detail }, others };
}

function versionIn(body: Uint8Array): number | null {
  const [, version] =
    new RegExp(`"${RENDERER_MEMBER}":(\\d{1,9})[,}]`).exec(Buffer.from(body).toString('latin1')) ?? [];
  return version === undefined ? null : Number(version);
}
