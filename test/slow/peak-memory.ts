/** The memory of a process of its own. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** Waits for the end of the process. Gives the most bytes that it has had at once: Linux keeps this number as long as it lives. */
export async function peakBytesOf(child: ChildProcess): Promise<number> {
  let peak = 0;
  while (child.exitCode === null) {
    // It may end in between.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024);
    await setTimeout(50);
  }
  console.info(`peak: ${Math.round(peak / 1024 / 1024)} MB`);
  return peak;
}
