/** Ceph's gateway for S3, of Debian: `apt-get install radosgw ceph-mon ceph-osd ceph-common`. The largest free store. */
import { join } from 'node:path';
import { freePort } from '../../../tools/bench/free-port.ts';
import { type Engine, run, serve } from './engine.ts';
import { makeRunFolder, removeRunFolder } from './run-folder.ts';

export const radosgw: Engine = {
  name: 'radosgw',
  version: 'debian',
  isOptional: true,
  async install() {
    for (const program of ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph']) await run(program, ['--version']);
  },
  async start(folder) {
    const [port, monitorPort] = [await freePort(), await freePort()];
    const data = makeRunFolder(folder, 'data');
    const words = [join(import.meta.dirname, 'radosgw.sh'), data, String(port), String(monitorPort)];
    const { endpoint, stop } = await serve(port, 'bash', words);
    return {
      endpoint,
      async stop() {
        await stop();
        removeRunFolder(data);
      },
    };
  },
};
