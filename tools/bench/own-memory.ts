import { readFileSync } from 'node:fs';

/**
 * On Linux `resourceUsage().maxRSS` is never below what the parent held when it started this process: the mark survives
 * exec. The mark of this process's own memory is `VmHWM` (proc_pid_status(5)). Both count kilobytes of 1,024 bytes.
 */
export function maxRssBytes(): number {
  const own =
    process.platform === 'linux' ? /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) : null;
  return (own === null ? process.resourceUsage().maxRSS : Number(own[1])) * 1024;
}
