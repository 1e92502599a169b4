/**
 * Folders that go with the process that made them. One that is killed removes nothing: so a folder is named after its
 * maker, and the next to make one there removes those whose maker is gone.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const made = new Set<string>();

process.on('exit', () => {
  for (const folder of made) tryToRemove(folder);
});

/** Makes the empty folder `<parent>/<name>-<process id>-<six characters>`, which is removed when this process exits. */
export function makeRunFolder(parent: string, name: string): string {
  mkdirSync(parent, { recursive: true });
  for (const entry of readdirSync(parent)) {
    const [, maker] = entry.startsWith(`${name}-`) ? (/^-(\d+)-\w{6}$/.exec(entry.slice(name.length)) ?? []) : [];
    if (maker !== undefined && !isRunning(Number(maker))) tryToRemove(join(parent, entry));
  }
  const folder = mkdtempSync(join(parent, `${name}-${process.pid}-`));
  made.add(folder);
  return folder;
}

/** Harmless when it is gone. */
export function removeRunFolder(folder: string): void {
  // Tried again, because a killed process may still write into it.
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  made.delete(folder);
}

/** The next process removes folders that cannot be removed now. Folders of other users stay. */
function tryToRemove(folder: string): void {
  try {
    removeRunFolder(folder);
  } catch {}
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Otherwise it belongs to another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
