/** The log entry that lists the kinds of files that a deployment publishes. A host cannot hide a listed kind. */

import { PROJECTIONS } from '../../../contract/files/projections.ts';
import { SECOND_FORMAT, type ServiceEntry } from '../../../contract/log/entries.ts';
import { defaultListEverySeconds, type PublisherDependencies } from '../../dependencies.ts';

/** An entry for each further list page would say little. */
const LIST_SECONDS_MIN = 64;

/** @param markets in the list */
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
