/** Whether a failure of storage is due to the disk, in words that anybody may read: they name no path. */

/** Codes of the system, and primary result codes of SQLite (https://sqlite.org/rescode.html). */
const FULL = ['ENOSPC', 'EDQUOT', 13];
const READ_ONLY = ['EROFS'];
/** SQLite gives this code also for a file without write permission. */
const SQLITE_READ_ONLY = [8];
const DENIED = ['EACCES', 'EPERM'];
const FAILING = ['EIO', 10];

const WORDS: readonly (readonly [codes: readonly unknown[], words: string])[] = [
  [FULL, 'is full'],
  [READ_ONLY, 'is read-only'],
  [SQLITE_READ_ONLY, 'is read-only, or a database file on it is'],
  [DENIED, 'denies access to its files'],
  [FAILING, 'fails: it may be full, read-only or broken'],
];

/**
 * @param error the failure; its causes are examined, too
 * @param owner names the disk
 * @returns null if the disk is not the cause
 */
export function diskFault(error: unknown, owner = 'the service'): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, errcode, syscall } = cause as Error & { readonly [name in 'code' | 'errcode' | 'syscall']?: unknown };
    // A firewall denies connections with codes that files have, too.
    if (cause instanceof AggregateError || syscall === 'connect') return null;
    // The lower eight bits of an extended code of SQLite are the primary code. Other errors have numbers of other meanings.
    const known = typeof errcode === 'number' ? errcode & 0xff : typeof code === 'string' ? code : null;
    const found = WORDS.find(([named]) => named.includes(known));
    if (found !== undefined) return `The disk of ${owner} ${found[1]}.`;
  }
  return null;
}
