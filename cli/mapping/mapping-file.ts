/** Reads the file of a mapping, and shows its faults to a person. */
import { readFileSync, statSync } from 'node:fs';
import type { CsvMapping, MappingFault } from '../../mapping/declared/csv-mapping.ts';
import { readJsonc } from '../../mapping/declared/parse-jsonc.ts';
import { parseMappingIn } from '../../mapping/recipe/mapping-in.ts';
import { CommandError } from '../program/exit-codes.ts';

export function readMappingText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const hint = isAbsent ? `Begin one: tidemark mapping init FILE > ${path}` : null;
    throw new CommandError('usage', `The mapping ${path} cannot be read: ${(cause as Error).message}`, hint, { cause });
  }
}

/** No mapping is longer. A file of data may be too long to be read as one text. */
const MAPPING_BYTES_MAX = 4 * 1024 * 1024;

/** Whether the file looks like a mapping or a recipe, even one with faults. */
export function looksLikeMapping(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isFile() !== true || file.size > MAPPING_BYTES_MAX) return false;
  const found = readJsonc(readMappingText(path), (document) => ({ isMapping: hasMapping(document) }));
  return 'isMapping' in found && found.isMapping;
}

function hasMapping(document: unknown): boolean {
  return typeof document === 'object' && document !== null && ('observation' in document || 'mapping' in document);
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
