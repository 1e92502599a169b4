/** Reads the file of a mapping, and shows its faults to a person. */
import { readFileSync } from 'node:fs';
import type { CsvMapping, MappingFault } from '../../mapping/declared/csv-mapping.ts';
import { parseMappingIn } from '../../mapping/recipe/mapping-in.ts';
import { CommandError } from '../program/exit-codes.ts';

export function readMappingText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CommandError('usage', `The mapping ${path} cannot be read: ${(cause as Error).message}`, null, { cause });
  }
}

/** @throws CommandError with all faults of the mapping */
export function readMappingFile(path: string): CsvMapping {
  const result = parseMappingIn(readMappingText(path));
  if ('mapping' in result) return result.mapping;
  throw faultyMapping(path, result.faults);
}

export function faultyMapping(path: string, faults: readonly MappingFault[]): CommandError {
  const lines = faults.map(({ line, pointer, detail }) => `${path}:${line ?? 1} ${pointer || '/'}: ${detail}`);
  return new CommandError('usage', `The mapping ${path} is not valid.`, lines.join('\n'));
}
