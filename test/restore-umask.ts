/** Commands that write private files narrow the umask of their process. The tests after them have this process too. */
import { afterAll } from 'vitest';

const umask = process.umask();
afterAll(() => void process.umask(umask));
