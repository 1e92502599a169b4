/** Decides which observations a market shows, and how. Without the schema library. */
import type { Observation } from './metric.ts';

type Shown = Pick<Observation, 'announced' | 'retraction' | 'supersededBy'>;

/** Whether a market can show the observation as a newest value: it is effective, and it {@link stands}. */
export function isShowable(observation: Shown): boolean {
  return stands(observation) && observation.announced === undefined;
}

/** Whether a market can announce the observation. */
export function isAnnouncement(observation: Shown): boolean {
  return stands(observation) && observation.announced === true;
}

/** The newest version, unless it is a retraction of a mistake. */
function stands({ retraction, supersededBy }: Shown): boolean {
  return supersededBy === null && retraction !== 'mistake';
}
