/** The AWS CLI, with which an operator types what the runbooks say. */
import { join } from 'node:path';
import { type Installable, run } from './engine.ts';

/** Everything that it needs, as one installation found it (pip freeze). Apache-2.0. */
export const AWS_CLI: Installable = {
  name: 'aws-cli',
  version: '1.46.3',
  async install(folder) {
    await run('python3', ['-m', 'venv', folder]);
    const packages =
      'awscli==1.46.3 colorama==0.4.6 docutils==0.19 jmespath==1.1.0 pyasn1==0.6.5 python-dateutil==2.9.0.post0 ' +
      'PyYAML==6.0.4 rsa==4.7.2 six==1.17.0 urllib3==2.8.0';
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '--no-compile'];
    await run(join(folder, 'bin', 'python'), [...pip, ...packages.split(' ')]);
  },
};
