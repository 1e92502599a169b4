/** moto (Apache-2.0): many AWS services in Python. Needs Python 3.10 or later, with venv and pip. */
import { join } from 'node:path';
import { freePort } from '../../../tools/bench/free-port.ts';
import { type Engine, run, serve } from './engine.ts';

const REQUIREMENTS = join(import.meta.dirname, 'moto-requirements.txt');

/** As moto's own server, but with one thread: moto undoes a transaction by hand, and other threads would see it. */
const SERVER = `
import os
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple
application = DomainDispatcherApplication(create_backend_app)
port = int(os.environ['MOTO_PORT'])
run_simple('127.0.0.1', port, application, threaded=False, request_handler=MotoRequestHandler)
`;

export const moto: Engine = {
  name: 'moto',
  version: '5.2.5',
  async install(folder) {
    await run('python3', ['-m', 'venv', folder]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-compile'];
    await run(join(folder, 'bin', 'python'), [...pip, '--requirement', REQUIREMENTS]);
  },
  async start(folder) {
    const port = await freePort();
    return serve(port, join(folder, 'bin', 'python'), ['-c', SERVER], { MOTO_PORT: String(port) });
  },
};
