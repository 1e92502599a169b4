/** Which observations a market shows, and where. Without the schema library. */
import type { Observation } from './metric.ts';

type Shown = Pick<Observation, 'announced' | 'retraction' | 'supersededBy'>;

/** An observation that its market can show as a newest value: it is effective, and {@link stands}. */
export function isShowable(observation: Shown): boolean {
  return stands(observation) && observation.announced === undefined;
}

/** An observation that its market can announce. */
export function isAnnouncement(observation: Shown): boolean {
  return stands(observation) && observation.announced === true;
}

/** The newest version, unless that says that there never was one. */
function stands({ retraction, supersededBy }: Shown): boolean {
  return supersededBy === null && retraction !== 'mistake';
}
