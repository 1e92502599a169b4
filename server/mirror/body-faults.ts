/** Which findings of `verify` concern a copy. */
import type { Findings } from '../../publisher/verify/check-body.ts';
import type { Finding } from '../../publisher/verify/report.ts';

/** The headers are not part of the copy: the mirror has its own. A proxy before the service may change them. */
export function bodyFaults({ all }: Findings): readonly Finding[] {
  return all.filter(({ rule }) => rule !== 'headers');
}
