/** The paths of sources. */

export const SOURCES_PATH = '/api/v1/sources';

export function sourcePath(name: string, rest = ''): string {
  return `${SOURCES_PATH}/${encodeURIComponent(name)}${rest}`;
}
