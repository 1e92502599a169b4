/** The paths of sources. */
import { SOURCES_URL } from '../../contract/files/routes.ts';

export function sourcePath(name: string, rest = ''): string {
  return `${SOURCES_URL}/${encodeURIComponent(name)}${rest}`;
}
