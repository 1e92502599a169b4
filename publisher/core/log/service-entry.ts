/** The log entry that lists the kinds of files that a deployment publishes. A host cannot hide a listed kind. */

import { PROJECTIONS } from '../../../contract/files/projections.ts';
import { SECOND_FORMAT, type ServiceEntry } from '../../../contract/log/entries.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../dependencies.ts';

/** The shortest interval that the entry names: otherwise each further list page would need a new entry. */
const LIST_SECONDS_MIN = 64;

/** @param markets the number of markets in the list */
export function serviceEntry(
  {
    projections = new Set(),
    listEverySeconds = defaultListEverySeconds,
  }: Pick<PublisherDependencies, 'projections' | 'listEverySeconds'>,
  markets: number,
): ServiceEntry {
  return {
    format: SECOND_FORMAT,
    type: 'service',
    projections: PROJECTIONS.filter((name) => projections.has(name)),
    listSeconds: Math.max(LIST_SECONDS_MIN, 2 ** Math.ceil(Math.log2(listEverySeconds(markets)))),
  };
}
