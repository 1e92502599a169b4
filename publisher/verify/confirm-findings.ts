/** Verifies through a shared cache, which may mix bodies of different times for as long as it keeps a body. */
import type { PublicReader } from './reading/reader.ts';
import type { VerifyReport } from './report.ts';
import { type VerifyOptions, verify } from './verify.ts';

/**
 * Verifies a share, and repeats the walk after findings. Only findings at the same place in both walks are reported: a
 * finding that a publication caused during the first walk is gone in the second.
 *
 * @param pause waits for longer than a cache keeps a body; false: there is no time for a second walk, so all findings are
 *   reported
 */
export async function confirmFindings(
  reader: PublicReader,
  asked: Pick<VerifyOptions, 'share' | 'removed' | 'nowMs'>,
  pause: (found: VerifyReport['findings']) => Promise<boolean>,
): Promise<VerifyReport> {
  const first = await verify(reader, asked);
  if (first.findings.length === 0 || !(await pause(first.findings))) return first;
  const second = await verify(reader, asked);
  const nameOf = ({ url, rule }: VerifyReport['findings'][number]) => `${rule} ${url}`;
  const found = new Set(first.findings.map(nameOf));
  return { ...second, findings: second.findings.filter((finding) => found.has(nameOf(finding))) };
}
