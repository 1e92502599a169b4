import { describe, expect, test } from 'vitest';
import { readConfig, StartError } from '../../embedded/config.ts';

const DEFAULTS = { host: '127.0.0.1', port: 8787, dataFolder: '.tidemark' };

describe('what the environment says', () => {
  test.each<[string, Record<string, string | undefined>, object]>([
    ['nothing', {}, {}],
    ['what is empty counts as nothing', { HOST: '', PORT: '', TIDEMARK_DATA: '' }, {}],
    ['all of it', { HOST: '::', PORT: '80', TIDEMARK_DATA: '/data' }, { host: '::', port: 80, dataFolder: '/data' }],
    ['any free port', { PORT: '0' }, { port: 0 }],
    ['the highest port', { PORT: '65535' }, { port: 65_535 }],
    ['zeros before it', { PORT: '00080' }, { port: 80 }],
  ])('%s', (_, environment, expected) => {
    expect(readConfig(environment)).toEqual({ ...DEFAULTS, ...expected });
  });
});

test.each(['65536', '-1', '1.5', '8787 ', ' 80', '0x50', '1e3', 'http', '99999999', '٨٠'])(
  'PORT=%s is refused',
  (port) => {
    expect(() => readConfig({ PORT: port })).toThrow(StartError);
  },
);
