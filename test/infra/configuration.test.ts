/** The configuration in cdk.json, and the messages for its faults. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isUnreachable } from '../../contract/values/waitlist.ts';
import { ConfigurationError, readConfiguration } from '../../infra/deployment/configuration.ts';
import { MINIMAL } from './synthesised.ts';

const ROOT = join(import.meta.dirname, '../..');
const CERTIFICATE = 'certificate/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f';
const certificateIn = (region: string) => `arn:aws:acm:${region}:123456789012:${CERTIFICATE}`;

const STREAM = 'arn:aws:dynamodb:us-east-1:123456789012:table/restored/stream/2026-11-20T12:00:00.000';

/** The message of the refusal. */
function faultOf(context: unknown): string {
  try {
    readConfiguration(context);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
}

describe('a configuration', () => {
  it('needs nothing but the address for key requests', () => {
    expect(readConfiguration(MINIMAL)).toEqual({
      name: 'tidemark',
      region: 'us-east-1',
      waitlistEmail: 'keys@tidemark.test',
      projections: ['log', 'history-files', 'latest', 'recent', 'exports', 'compat', 'market-pages', 'feeds'],
      logKeys: [1],
      keyEnvironment: 'live',
      userPool: { selfSignUp: false, callbackUrls: ['http://localhost:8787/callback'] },
      originSecretNumber: 1,
      readAccessLogs: false,
      accountConcurrency: 10,
      canary: true,
      throttle: { requestsPerSecond: 20, burst: 2 },
      reservePublisherConcurrency: false,
      verifyEveryHours: 1,
      monthlyBudgetUsd: 50,
      logRetentionDays: 30,
    });
  });

  it('is the default of the repository', () => {
    const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    expect(readConfiguration(context.tidemark).name).toBe('tidemark');
  });

  it('may say everything at once', () => {
    const domain = (host: string) => ({
      host,
      certificateArn: certificateIn('us-east-1'),
      hostedZone: { id: 'Z0123456789ABC', name: 'example.com' },
    });
    const all = {
      ...readConfiguration(MINIMAL),
      issuer: {
        url: 'https://id.example.com',
        audience: 'tidemark',
        jwksUri: 'https://id.example.com/keys',
        scopePrefix: '',
      },
      userPool: { selfSignUp: true, callbackUrls: ['https://app.example.com/back', 'http://localhost:3000/back'] },
      readDomain: domain('api.example.com'),
      writeDomain: domain('write.example.com'),
      writeRateLimit: 600,
      uploadsKeptDays: 400,
      backupVaultArn: 'arn:aws:backup:eu-west-1:210987654321:backup-vault:tidemark',
      originSecretNumber: 3,
      logOrigin: 'data.example.com/prices',
      logKeys: [3, 2],
      readWebAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/readers/0a1b2c3d',
      alarmEmail: 'ops@example.com',
      restoredTable: { name: 'restored', streamArn: STREAM },
    };
    expect(readConfiguration(all)).toEqual(all);
  });
});

describe('the throttle of the write API', () => {
  it.each([
    [10, { requestsPerSecond: 20, burst: 2 }],
    [1_000, { requestsPerSecond: 50, burst: 100 }],
  ])('leaves executions to the publisher and the worker, in an account with %i', (accountConcurrency, throttle) => {
    expect(readConfiguration({ ...MINIMAL, accountConcurrency }).throttle).toEqual(throttle);
    expect(throttle.burst + throttle.requestsPerSecond / 10).toBeLessThanOrEqual(accountConcurrency - 6);
  });
});

describe('a name', () => {
  it('may be what Cognito refuses where there is no user pool', () => {
    const issuer = { url: 'https://id.example.com', audience: 'tidemark' };
    expect(readConfiguration({ ...MINIMAL, name: 'laws', issuer }).name).toBe('laws');
  });
});

describe('a region', () => {
  it.each(['us-west-2', 'ap-southeast-5', 'il-central-1', 'mx-central-1'])('may be %s', (region) => {
    expect(readConfiguration({ ...MINIMAL, region }).region).toBe(region);
  });
});

describe('an address', () => {
  it.each([
    ['waitlist@tidemark.example', true],
    ['keys@tidemark.test', true],
    ['keys@mail.invalid', true],
    ['keys@a.localhost', true],
    ['keys@example.com', true],
    ['keys@mail.EXAMPLE.org', true],
    ['keys@an-example.com', false],
    ['keys@example.com.au', false],
    ['example.com@tidemark.io', false],
    ['keys@test.tidemark.io', false],
  ])('%s is of a reserved domain: %j', (email, reserved) => {
    expect(isUnreachable(email)).toBe(reserved);
  });

  it('must be added to the default of the repository', () => {
    const { context } = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));
    expect(isUnreachable(readConfiguration(context.tidemark).waitlistEmail)).toBe(true);
  });
});

describe('a fault', () => {
  it.each<[where: string, context: object]>([
    ['context.tidemark.waitlistEmail', { waitlistEmail: undefined }],
    ['context.tidemark.waitlistEmail', { waitlistEmail: 'Keys <keys@example.com>' }],
    ['context.tidemark', { wailistEmail: 'a@b.example' }],
    ['context.tidemark.name', { name: 'Tidemark' }],
    ['context.tidemark.name', { name: 'x' }],
    ['context.tidemark.name', { name: 'a-name-of-21-letters-x' }],
    // Cognito refuses these in the domain of a user pool.
    ['context.tidemark.name', { name: 'laws' }],
    ['context.tidemark.name', { name: 'amazonas' }],
    ['context.tidemark.name', { name: 'my-cognito' }],
    ['context.tidemark.region', { region: 'Frankfurt' }],
    ['context.tidemark.region', { region: 'cn-north-1' }],
    ['context.tidemark.secondRegion', { secondRegion: 'Frankfurt' }],
    ['context.tidemark.secondRegion', { region: 'eu-west-1', secondRegion: 'eu-west-1' }],
    ['context.tidemark.region', { region: 'us-gov-west-1' }],
    ['context.tidemark.region', { region: 'us-isob-east-1' }],
    ['context.tidemark.projections.0', { projections: ['everything'] }],
    ['context.tidemark.projections', { projections: 'all' }],
    ['context.tidemark.keyEnvironment', { keyEnvironment: 'production' }],
    ['context.tidemark.issuer.url', { issuer: { url: 'http://id.example.com', audience: 'x' } }],
    ['context.tidemark.issuer.audience', { issuer: { url: 'https://id.example.com' } }],
    ['context.tidemark.userPool.callbackUrls.0', { userPool: { callbackUrls: ['http://app.example.com'] } }],
    ['context.tidemark.userPool.callbackUrls', { userPool: { callbackUrls: [] } }],
    [
      'context.tidemark.readDomain.host',
      { readDomain: { host: 'https://a.example', certificateArn: certificateIn('us-east-1') } },
    ],
    // CloudFront's certificates are of one region, wherever the rest is.
    [
      'context.tidemark.readDomain.certificateArn',
      { region: 'eu-west-1', readDomain: { host: 'a.example', certificateArn: certificateIn('eu-west-1') } },
    ],
    [
      'context.tidemark.writeDomain.certificateArn',
      { region: 'eu-west-1', writeDomain: { host: 'a.example', certificateArn: certificateIn('eu-west-1') } },
    ],
    [
      'context.tidemark.readDomain.hostedZone.name',
      {
        readDomain: {
          host: 'api.example.com',
          certificateArn: certificateIn('us-east-1'),
          hostedZone: { id: 'Z0123456789ABC', name: 'ample.com' },
        },
      },
    ],
    ['context.tidemark.readWebAclArn', { readWebAclArn: 'arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/x/1' }],
    ['context.tidemark.writeRateLimit', { writeRateLimit: 9 }],
    ['context.tidemark.writeRateLimit', { writeRateLimit: true }],
    ['context.tidemark.originSecretNumber', { originSecretNumber: 0 }],
    ['context.tidemark.logOrigin', { logOrigin: 'https://data.example.com' }],
    ...[[], [1, 2], [2, 2], [3, 2, 1]].map((logKeys): [string, object] => ['context.tidemark.logKeys', { logKeys }]),
    ...[[0], ['1'], [1.5]].map((logKeys): [string, object] => ['context.tidemark.logKeys.0', { logKeys }]),
    ['context.tidemark.throttle.burst', { throttle: { requestsPerSecond: 1, burst: 0 } }],
    ['context.tidemark.throttle.requestsPerSecond', { throttle: { requestsPerSecond: '10', burst: 1 } }],
    ['context.tidemark.verifyEveryHours', { verifyEveryHours: 0 }],
    ['context.tidemark.alarmEmail', { alarmEmail: 'ops' }],
    ['context.tidemark.monthlyBudgetUsd', { monthlyBudgetUsd: 0 }],
    ['context.tidemark.restoredTable.name', { restoredTable: { name: 'a b', streamArn: STREAM } }],
    ['context.tidemark.restoredTable.streamArn', { restoredTable: { name: 'restored', streamArn: 'restored' } }],
    ['context.tidemark.uploadsKeptDays', { uploadsKeptDays: 0 }],
    ['context.tidemark.accountConcurrency', { accountConcurrency: 9 }],
    ['context.tidemark.backupVaultArn', { backupVaultArn: 'arn:aws:s3:::backups' }],
    ['context.tidemark.logRetentionDays', { logRetentionDays: 31 }],
    ['context.tidemark.readAccessLogs', { readAccessLogs: 'yes' }],
  ])('at %s is reported with its place', (where, context) => {
    expect(faultOf({ ...MINIMAL, ...context })).toContain(`  ${where}: `);
  });

  it('is reported together with all others', () => {
    const message = faultOf({ name: '-', alarmEmail: 'ops' });
    for (const name of ['name', 'waitlistEmail', 'alarmEmail']) expect(message).toContain(`context.tidemark.${name}: `);
  });

  it.each([undefined, null, 'tidemark', [], 3])('of the whole is one, too: %j', (context) => {
    expect(faultOf(context)).toContain('context.tidemark');
  });
});

describe('docs/deploy.md', () => {
  const rows = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8').match(/^\| `[a-zA-Z.]+` /gm) ?? [];
  const documented = rows.map((row) => row.slice(3, -2).split('.')[0]);

  it('has a row for each value, and for no other', () => {
    const known = [
      ...Object.keys(readConfiguration(MINIMAL)),
      'issuer',
      'readDomain',
      'writeDomain',
      'writeRateLimit',
      'logOrigin',
      'logKeyArns',
      'uploadsKeptDays',
      'backupVaultArn',
      'readWebAclArn',
      'restoredTable',
      'secondRegion',
      'alarmEmail',
    ];
    expect([...new Set(documented)].sort()).toEqual(known.sort());
  });
});
