/** dynoxide (MIT or Apache-2.0): DynamoDB over SQLite, compared with AWS by a public suite. Needs Rust. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../tools/bench/free-port.ts';
import { type Engine, run, serve } from './engine.ts';

const VERSION = '3.2.0';

export const dynoxide: Engine = {
  name: 'dynoxide',
  version: VERSION,
  async install(folder) {
    const target = join(folder, 'target');
    const crate = ['install', '--locked', `dynoxide-rs@${VERSION}`, '--root', folder];
    const features = ['--no-default-features', '--features', 'native-sqlite,http-server,cli'];
    // Unoptimised it is built in a quarter of the time, and still fast enough for tests.
    await run('cargo', [...crate, ...features, '--target-dir', target], {
      CARGO_PROFILE_RELEASE_LTO: 'off',
      CARGO_PROFILE_RELEASE_OPT_LEVEL: '0',
      CARGO_PROFILE_RELEASE_CODEGEN_UNITS: '16',
    });
    await rm(target, { recursive: true, force: true });
  },
  async start(folder) {
    const port = await freePort();
    return serve(port, join(folder, 'bin', 'dynoxide'), ['serve', '--port', String(port)]);
  },
};
