/** Loaded before the command line by `--import`: the process is killed instead of renaming its n-th file. */
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { rename } = promises;
let left = Number(process.env.DIE_AT_RENAME);

promises.rename = async (from, to) => {
  left -= 1;
  if (left <= 0) process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment.
  if (left <= 0) await new Promise(() => {});
  await rename(from, to);
};
syncBuiltinESMExports();
