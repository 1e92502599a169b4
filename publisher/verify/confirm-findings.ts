/** Verifies through a shared cache, which may mix what it took at different times for as long as it keeps a body. */
import type { PublicReader } from './reader.ts';
import type { VerifyReport } from './report.ts';
import type { Share } from './share.ts';
import { verify } from './verify.ts';

/**
 * Verifies a share, and after findings once more. What is found both times at the same place is reported; what a publication
 * during the first walk made look wrong is gone by then.
 *
 * @param pause waits for longer than a cache keeps a body; false where there is no time for a second walk: then whatever
 *   was found is reported.
 */
export async function confirmFindings(
  reader: PublicReader,
  share: Share,
  pause: () => Promise<boolean>,
): Promise<VerifyReport> {
  const first = await verify(reader, { share });
  if (first.findings.length === 0 || !(await pause())) return first;
  const second = await verify(reader, { share });
  const nameOf = ({ url, rule }: VerifyReport['findings'][number]) => `${rule} ${url}`;
  const found = new Set(first.findings.map(nameOf));
  return { ...second, findings: second.findings.filter((finding) => found.has(nameOf(finding))) };
}
