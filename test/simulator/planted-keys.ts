/** The keys of objects to which a planted fault happens. */
import { HISTORY_FILE_KINDS } from '../../contract/files/public-object-names.ts';
import { parsePublicKey } from '../../contract/files/public-objects.ts';

export function isBody(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && !('cursor' in name);
}

export function isPage(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && 'cursor' in name;
}

export function isTile(key: string): boolean {
  const name = parsePublicKey(key);
  return name !== null && 'tile' in name;
}

export function isMarketList(key: string): boolean {
  return parsePublicKey(key)?.kind === 'market-list';
}

export function isHistoryFile(key: string): boolean {
  return (HISTORY_FILE_KINDS as readonly (string | undefined)[]).includes(parsePublicKey(key)?.kind);
}

export function isHistory(key: string): boolean {
  return parsePublicKey(key)?.kind === 'history';
}
