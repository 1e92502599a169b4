/** Which observations a market shows. Without the schema library. */
import type { Observation } from './metric.ts';

/** An observation that its market can show: the newest version, unless that says that there never was one. */
export function isShowable({ retraction, supersededBy }: Pick<Observation, 'retraction' | 'supersededBy'>): boolean {
  return supersededBy === null && retraction !== 'mistake';
}
