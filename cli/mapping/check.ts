/** `tidemark mapping check`. */
import { checkMapping, type FileCheck } from '../../mapping/check/check-mapping.ts';
import { faultLines } from '../ingest/fault-log.ts';
import { shareOf } from '../ingest/ingest-run.ts';
import { openInput } from '../ingest/open-input.ts';
import { endWith } from '../program/exit-codes.ts';
import { note, printFields, printJson, progressOf } from '../program/output.ts';
import type { GlobalOptions } from '../program/profile.ts';
import { faultyMapping, readMappingText } from './mapping-file.ts';

/** Ends with `set-aside` if a row is refused. @throws CommandError if the mapping has faults */
export async function printMappingCheck(
  mappingPath: string,
  path: string,
  options: Pick<GlobalOptions, 'json' | 'quiet'>,
): Promise<void> {
  const text = readMappingText(mappingPath);
  const input = await openInput(path);
  const progress = progressOf(options);
  const seen = (records: number) => progress.at('Checking', { share: shareOf(input), count: records, unit: 'record' });
  const { faults, file } = await checkMapping(text, input.bytes, seen, new Date().toISOString());
  progress.clear();
  if (file === null) throw faultyMapping(mappingPath, faults);
  if (file.refused.count > 0) endWith('set-aside');
  if (options.json) return await printJson(file);
  for (const line of faultLines(input.name, file.refused.groups)) note(line);
  for (const column of file.looseUrlColumns) {
    note(
      `${mappingPath}: sourceUrl has {${column}}, which names no market and is not the date. If it changes between two ` +
        'versions of the file, a corrected row becomes the value of another source.',
    );
  }
  if (file.hasDigests) note(DIGESTS);
  await printFile(file);
}

const DIGESTS =
  'Some slugs end in a digest, because they do not spell their names exactly. Slugs cannot change later: if you do not want ' +
  'digests, change market.slug, match or slugDigest now.';

async function printFile(file: FileCheck) {
  const { rows, values, leftOut, markets, observations, first, firstObservation, refused, unusedColumns } = file;
  const { count, unknown, rounded, observedAt } = observations;
  const refusedValues = values - leftOut - count;
  await printFields([
    ['rows of the file, readable', rows],
    ['rows of the file, not readable', refused.count - refusedValues],
    ['values in the readable rows', values],
    ['values left out', leftOut],
    ['values refused', refusedValues],
    ['observations', count],
    ['of them unknown', Object.values(unknown).reduce((sum, each) => sum + each, 0)],
    ['of them rounded', rounded],
    ['first', first],
    ['its record', firstObservation && JSON.stringify(firstObservation)],
    ['observed', observedAt === null ? null : `${observedAt.first} to ${observedAt.last}`],
    ['market definitions', [markets.count, ...markets.first.map(({ slug }) => slug)].join(', ')],
    ['records: definitions and observations', markets.count + count],
    ['columns not used', unusedColumns.join(', ') || 'none'],
  ]);
}
