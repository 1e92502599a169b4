/** `tidemark run` on a disk of a few megabytes, in a mount namespace: under the data folder, and under the target. */
import { spawn } from 'node:child_process';
import { truncateSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { finished, MAIN } from '../cli/tidemark.ts';
import { openRunWorld } from '../run/run-world.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { mountSmallDisk } from '../torture/small-disk.ts';

test.each([
  ['data folder', 'data', 'site'],
  ['target', 'site', 'data'],
])(
  'a run names the disk of the %s at once, by the path of its owner, and continues once there is room',
  async (owner, full, other) => {
    const world = await openRunWorld();
    const file = await world.records('a.ndjson', { gold: Array.from({ length: 600 }, (_, day) => 1_000 + (day % 7)) });
    const folder = await temporaryFolder();
    const disk = await mountSmallDisk(folder, 8);
    onTestFinished(() => disk.close());
    const paths = { [full]: join(disk.path, full), [other]: join(folder, other) };
    await mkdir(join(disk.shownPath, full), { mode: 0o700 });
    const run = async (...files: readonly string[]) => {
      const places = ['--data', `${paths.data}`, '--to', `${paths.site}`, '--json'];
      const [program, ...before] = [...disk.prefix, process.execPath, MAIN, 'run', ...files, ...places];
      const env = { PATH: process.env.PATH, TIDEMARK_LOG_KEY: world.key, TIDEMARK_PROJECTIONS: 'log,latest' };
      const { code, output, errors } = await finished(spawn(program as string, before, { env }));
      return { code, errors, ...JSON.parse(output) };
    };
    expect(await run()).toMatchObject({ markets: 0 });
    const size = disk.fill();
    // With and without room for its first files.
    for (const roomBytes of [200_000, 0]) {
      if (roomBytes > 0) truncateSync(join(disk.shownPath, 'filling'), size - roomBytes);
      else disk.fill();
      const { code, detail, errors } = await run(file);
      expect([code, detail]).toEqual([expect.any(Number), expect.stringContaining(`${owner} ${paths[full]} `)]);
      expect([0, 5]).not.toContain(code);
      if (roomBytes > 0) expect(detail).toMatch(/^The disk of the .* is full\. /);
      expect(detail).not.toContain(join(`${paths.data}`, 'public'));
      expect(errors).not.toMatch(/--timeout|--idempotency-key|Next try|\n\s+at /);
    }
    disk.free();
    expect(await run(file)).toMatchObject({ code: 0, markets: 1, observations: 600 });
  },
);
