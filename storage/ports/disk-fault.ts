/** Whether a failure of storage is due to the disk, in words that anybody may read: they name no path. */

/** Codes of the system, and primary result codes of SQLite (https://sqlite.org/rescode.html). */
const FULL = ['ENOSPC', 'EDQUOT', 13];
const READ_ONLY = ['EROFS', 8];
const DENIED = ['EACCES', 'EPERM'];
const FAILING = ['EIO', 10];

const WORDS: readonly (readonly [codes: readonly unknown[], words: string])[] = [
  [FULL, 'The disk of the service is full.'],
  [READ_ONLY, 'The disk of the service is read-only.'],
  [DENIED, 'The disk of the service denies access to its files.'],
  [FAILING, 'The disk of the service fails: it may be full, read-only or broken.'],
];

/** @param error the failure; its causes are examined, too. @returns null if the disk is not the cause */
export function diskFault(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, errcode } = cause as Error & { readonly code?: unknown; readonly errcode?: unknown };
    // The lower eight bits of an extended code of SQLite are the primary code.
    const codes = [code, ...(typeof errcode === 'number' ? [errcode & 0xff] : [])];
    const found = WORDS.find(([named]) => named.some((each) => codes.includes(each)));
    if (found !== undefined) return found[1];
  }
  return null;
}
