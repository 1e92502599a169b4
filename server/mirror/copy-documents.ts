/** Takes over the documents that depend on no record. */

import { PROBLEMS_PATH } from '../../contract/files/object-paths.ts';
import type { PublicObjectName } from '../../contract/files/public-object-names.ts';
import { OPENAPI_URL, WAITLIST_URL } from '../../contract/files/routes.ts';
import { checkDocuments } from '../../publisher/projections/statics/check-documents.ts';
import { Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { bodyFaults } from './body-faults.ts';
import { freshReader, recorded } from './fresh-reader.ts';
import type { ListWorld } from './mirror-world.ts';

const DOCUMENTS: readonly (readonly [url: string, name: PublicObjectName])[] = [
  [WAITLIST_URL, { kind: 'waitlist' }],
  [OPENAPI_URL, { kind: 'openapi' }],
  [PROBLEMS_PATH, { kind: 'problems' }],
];

/** Nothing of a document with a finding is put. */
export async function copyDocuments({ upstream, copy, generation }: ListWorld): Promise<readonly Finding[]> {
  const findings = new Findings();
  const { reader, answers } = recorded(freshReader({ upstream, copy }));
  await checkDocuments(reader, findings);
  const faults = bodyFaults(findings);
  for (const [url, name] of DOCUMENTS) {
    const body = answers.get(url)?.body;
    if (body === undefined || faults.some((finding) => finding.url === url)) continue;
    await copy.put(name, { body, generation });
  }
  return faults;
}
