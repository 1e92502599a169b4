/** Verifies through a shared cache, which may mix what it took at different times for as long as it keeps a body. */
import type { PublicReader } from './reader.ts';
import type { VerifyReport } from './report.ts';
import { verify } from './verify.ts';

/**
 * Verifies, and after findings once more. What is found both times at the same place is reported; what a publication
 * during the first walk made look wrong is gone by then.
 *
 * @param pause waits for longer than a cache keeps a body.
 */
export async function confirmFindings(reader: PublicReader, pause: () => Promise<void>): Promise<VerifyReport> {
  const first = await verify(reader);
  if (first.findings.length === 0) return first;
  await pause();
  const second = await verify(reader);
  const nameOf = ({ url, rule }: VerifyReport['findings'][number]) => `${rule} ${url}`;
  const found = new Set(first.findings.map(nameOf));
  return { ...second, findings: second.findings.filter((finding) => found.has(nameOf(finding))) };
}
