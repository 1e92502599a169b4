import { describe, expect, test } from 'vitest';
import { ALL_PROJECTIONS, DEFAULT_PROJECTIONS } from '../../contract/files/projections.ts';
import { SettingError, StartError } from '../../server/service/start-error.ts';
import { checkClock, readConfig } from '../../server/settings/config.ts';
import { testSigner } from '../publisher/log/test-log.ts';

const VKEY = testSigner().vkey;

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8787,
  dataFolder: '.tidemark',
  waitlistEmail: null,
  operator: {},
  projections: DEFAULT_PROJECTIONS,
  readBaseUrl: null,
  uploadsKeptDays: null,
  proxies: [],
  isLocalIssuerAllowed: true,
  sample: 'unsaid',
  issuer: null,
  metrics: null,
  verifyEveryHours: 24,
  logKey: null,
  target: null,
  logOrigin: null,
  nextLogKey: null,
  witnesses: [],
  sourceHosts: new Set(),
  sourceSecrets: new Map(),
};
const ISSUER = { TIDEMARK_ISSUER: 'https://issuer.example/', TIDEMARK_AUDIENCE: 'tidemark' };

describe('the environment sets', () => {
  test.each<[string, Record<string, string | undefined>, object]>([
    ['nothing', {}, {}],
    ['nothing with empty variables', { HOST: '', PORT: '', TIDEMARK_DATA: '' }, {}],
    [
      'all of it',
      { HOST: '::', PORT: '80', TIDEMARK_DATA: '/data' },
      { host: '::', port: 80, dataFolder: '/data', isLocalIssuerAllowed: false },
    ],
    ['all projections', { TIDEMARK_PROJECTIONS: 'all' }, { projections: ALL_PROJECTIONS }],
    ['no projections', { TIDEMARK_PROJECTIONS: 'none' }, { projections: new Set() }],
    ['two projections', { TIDEMARK_PROJECTIONS: 'latest, log' }, { projections: new Set(['log', 'latest']) }],
    [
      'where readers are',
      { TIDEMARK_READ_BASE_URL: 'https://Data.Example/prices/' },
      { readBaseUrl: 'https://data.example/prices' },
    ],
    ['files of a year', { TIDEMARK_UPLOADS_KEPT_DAYS: '365' }, { uploadsKeptDays: 365 }],
    ['an issuer for all', { HOST: '::', TIDEMARK_LOCAL_ISSUER: 'everywhere' }, { host: '::' }],
    [
      'proxies',
      { TIDEMARK_PROXIES: '127.0.0.1, ::1,10.0.0.0/8,fd00::/8,' },
      { proxies: ['127.0.0.1', '::1', '10.0.0.0/8', 'fd00::/8'] },
    ],
    ['a port of metrics', { TIDEMARK_METRICS_PORT: '9464' }, { metrics: { host: '127.0.0.1', port: 9464 } }],
    [
      'metrics for other machines',
      { TIDEMARK_METRICS_PORT: '0', TIDEMARK_METRICS_HOST: '0.0.0.0' },
      { metrics: { host: '0.0.0.0', port: 0 } },
    ],
    ['no metrics without their port', { TIDEMARK_METRICS_HOST: '0.0.0.0', TIDEMARK_METRICS_PORT: '' }, {}],
    ['how often to verify', { TIDEMARK_VERIFY_HOURS: '504' }, { verifyEveryHours: 504 }],
    ['never to verify', { TIDEMARK_VERIFY_HOURS: '0' }, { verifyEveryHours: null }],
    [
      'the name of the log',
      { TIDEMARK_LOG_ORIGIN: 'data.example.com/prices' },
      { logOrigin: 'data.example.com/prices' },
    ],
    ['the next key of the log', { TIDEMARK_LOG_NEXT_KEY: VKEY }, { nextLogKey: VKEY }],
    ['any free port', { PORT: '0' }, { port: 0 }],
    ['the highest port', { PORT: '65535' }, { port: 65_535 }],
    ['a port with leading zeros', { PORT: '00080' }, { port: 80 }],
    ['an address', { TIDEMARK_WAITLIST_EMAIL: 'keys@example.com' }, { waitlistEmail: 'keys@example.com' }],
    [
      'an operator',
      {
        TIDEMARK_OPERATOR_NAME: 'Grain Desk',
        TIDEMARK_OPERATOR_CONTACT: 'https://grain.example/',
        TIDEMARK_DATA_LICENCE: '',
      },
      { operator: { name: 'Grain Desk', contact: 'https://grain.example/' } },
    ],
    ['an issuer', ISSUER, { issuer: { issuer: 'https://issuer.example/', audience: 'tidemark' } }],
    [
      'all of an issuer',
      { ...ISSUER, TIDEMARK_JWKS_URI: 'https://issuer.example/keys', TIDEMARK_SCOPE_PREFIX: 'tidemark/' },
      {
        issuer: {
          issuer: 'https://issuer.example/',
          audience: 'tidemark',
          jwksUri: 'https://issuer.example/keys',
          scopePrefix: 'tidemark/',
        },
      },
    ],
  ])('%s', (_, environment, expected) => {
    expect(readConfig(environment)).toEqual({ ...DEFAULTS, ...expected });
  });
});

test.each(['65536', '-1', '1.5', '8787 ', ' 80', '0x50', '1e3', 'http', '99999999', '٨٠'])(
  'PORT=%s is refused',
  (port) => {
    expect(() => readConfig({ PORT: port })).toThrow(SettingError);
    expect(() => readConfig({ TIDEMARK_METRICS_PORT: port })).toThrow(SettingError);
  },
);

test.each<[string, Record<string, string>]>([
  ['a time for files of zero days', { TIDEMARK_UPLOADS_KEPT_DAYS: '0' }],
  ['a proxy by name', { TIDEMARK_PROXIES: 'proxy.example' }],
  ['a proxy with a port', { TIDEMARK_PROXIES: '127.0.0.1:80' }],
  ['a network that is too narrow', { TIDEMARK_PROXIES: '10.0.0.0/33' }],
  ['a network with two lengths', { TIDEMARK_PROXIES: '10.0.0.0/8/8' }],
  ['a network without a length', { TIDEMARK_PROXIES: '10.0.0.0/' }],
  ['a host of sources without a scheme', { TIDEMARK_SOURCE_HOSTS: 'prices:8080' }],
  ['an address as a host of sources', { TIDEMARK_SOURCE_HOSTS: 'http://10.0.0.5:8080' }],
  ['a host of sources with a path', { TIDEMARK_SOURCE_HOSTS: 'http://prices:8080/path' }],
  ['a host of sources by FTP', { TIDEMARK_SOURCE_HOSTS: 'ftp://prices' }],
  ['a host of sources with a port that says nothing', { TIDEMARK_SOURCE_HOSTS: 'http://prices:80' }],
  ['an unknown projection', { TIDEMARK_PROJECTIONS: 'log,everything' }],
  ['an empty projection', { TIDEMARK_PROJECTIONS: 'log,' }],
  ['none and another projection', { TIDEMARK_PROJECTIONS: 'none,log' }],
  ['a place of readers without a scheme', { TIDEMARK_READ_BASE_URL: 'data.example.com' }],
  ['a place of readers with a query', { TIDEMARK_READ_BASE_URL: 'https://data.example.com/?a=b' }],
  ...['https://data.example.com', 'Data.example.com', 'data.example.com/', 'a+b', 'a.example/\n1', 'a'.repeat(201)].map(
    (origin): [string, Record<string, string>] => [`the name ${origin} of a log`, { TIDEMARK_LOG_ORIGIN: origin }],
  ),
  ['a malformed address', { TIDEMARK_WAITLIST_EMAIL: 'keys at example' }],
  ['an operator of two lines', { TIDEMARK_OPERATOR_NAME: 'a\nb' }],
  ['a contact that cannot be reached', { TIDEMARK_OPERATOR_CONTACT: 'javascript:alert(1)' }],
  ['two addresses', { TIDEMARK_WAITLIST_EMAIL: 'a@example.com,b@example.com' }],
  ['an issuer without an audience', { TIDEMARK_ISSUER: 'https://issuer.example' }],
  ['an issuer without https', { ...ISSUER, TIDEMARK_ISSUER: 'http://issuer.example' }],
  ['an issuer that is not a URL', { ...ISSUER, TIDEMARK_ISSUER: 'issuer' }],
  ['a next key of the log that is none', { TIDEMARK_LOG_NEXT_KEY: 'data.example.com/prices' }],
  ['a next key of the log whose id is wrong', { TIDEMARK_LOG_NEXT_KEY: VKEY.replace(/\+[0-9a-f]{8}\+/, '+00000000+') }],
  ['keys without https', { ...ISSUER, TIDEMARK_JWKS_URI: 'http://issuer.example/keys' }],
])('%s is refused', (_, environment) => {
  expect(() => readConfig(environment)).toThrow(SettingError);
});

test('of a list, the wrong part is named', () => {
  expect(() => readConfig({ TIDEMARK_PROXIES: '::1, 10.0.0.0/33' })).toThrow(
    'TIDEMARK_PROXIES has "10.0.0.0/33": set ',
  );
});

test('a clock that was never set is refused', () => {
  expect(() => checkClock(Date.parse('2019-12-31T23:59:59Z'))).toThrow(StartError);
  checkClock(Date.now());
});
