/** The settings that protect data, each asserted in the template. */
import { describe, expect, it } from 'vitest';
import { MINIMAL, onlyOf, type Properties, resourceOf, WITH_OPTIONS } from './synthesised.ts';
import { synthesised } from './templates.ts';

const template = synthesised();
const data = template('data');

const RETAINED = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

describe('the table', () => {
  const table = onlyOf(data, 'AWS::DynamoDB::Table');

  it('table: one, with the keys that the adapter writes', () => {
    expect(table.KeySchema).toEqual([
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ]);
    expect(table.AttributeDefinitions).toEqual([
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ]);
    expect(table).not.toHaveProperty('GlobalSecondaryIndexes');
  });

  it('table: retained', () => {
    expect(resourceOf(data, 'AWS::DynamoDB::Table', 'Ledger')).toMatchObject(RETAINED);
  });

  it.each<[string, string, unknown]>([
    ['on-demand', 'BillingMode', 'PAY_PER_REQUEST'],
    [
      'point-in-time recovery, as far back as it goes',
      'PointInTimeRecoverySpecification',
      { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 },
    ],
    ['deletion protection', 'DeletionProtectionEnabled', true],
    [
      'images, without which no other region can have a replica',
      'StreamSpecification',
      { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    ],
    ['TTL attribute', 'TimeToLiveSpecification', { AttributeName: 'ttl', Enabled: true }],
    ['encryption with a key of KMS', 'SSESpecification', { SSEEnabled: true }],
  ])('table: %s', (_, setting, expected) => {
    expect(table[setting]).toEqual(expected);
  });
});

describe('backups in another account', () => {
  it('are made of the ledger every day, and kept as long as it can be recovered', () => {
    const built = synthesised(WITH_OPTIONS)('data');
    const [rule, ...others] = onlyOf(built, 'AWS::Backup::BackupPlan').BackupPlan.BackupPlanRule;
    expect(others).toEqual([]);
    expect(rule).toMatchObject({ ScheduleExpression: 'cron(0 3 * * ? *)', Lifecycle: { DeleteAfterDays: 35 } });
    expect(rule.CopyActions).toEqual([
      { DestinationBackupVaultArn: WITH_OPTIONS.backupVaultArn, Lifecycle: { DeleteAfterDays: 35 } },
    ]);
    expect(onlyOf(built, 'AWS::Backup::BackupSelection').BackupSelection.Resources).toEqual([
      { 'Fn::GetAtt': [expect.stringMatching(/^Ledger/), 'Arn'] },
    ]);
    expect(resourceOf(built, 'AWS::Backup::BackupVault', 'Backups')).toMatchObject(RETAINED);
  });

  it('are an option', () => {
    data.resourceCountIs('AWS::Backup::BackupPlan', 0);
  });
});

describe('a table that was restored', () => {
  const streamArn = 'arn:aws:dynamodb:us-east-1:123456789012:table/restored/stream/2026-11-20T12:00:00.000';
  const restored = synthesised({ ...MINIMAL, restoredTable: { name: 'restored', streamArn } });

  it('takes the place of the first one, which stays', () => {
    restored('data').resourceCountIs('AWS::DynamoDB::Table', 1);
    const api = restored('api');
    const functions = Object.values(api.findResources('AWS::Lambda::Function'));
    const tables = functions.map(({ Properties }) => Properties.Environment.Variables.TIDEMARK_TABLE);
    expect(new Set(tables)).toEqual(new Set(['restored', undefined]));
    const mappings = Object.values(api.findResources('AWS::Lambda::EventSourceMapping'));
    expect(mappings.map(({ Properties }) => Properties.EventSourceArn)).toEqual([streamArn, streamArn]);
  });
});

describe('audit table/partition, raw ingest bucket', () => {
  const bucket = resourceOf(data, 'AWS::S3::Bucket', 'Uploads');
  const policy = onlyOf(data, 'AWS::S3::BucketPolicy').PolicyDocument.Statement;

  // nag.test.ts finds one without versions, without TLS, or that is public.
  it('raw ingest bucket: retained, encrypted, its objects its owner’s', () => {
    expect(bucket).toMatchObject(RETAINED);
    expect(bucket.Properties.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }]);
    expect(bucket.Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ]);
  });

  it('raw ingest bucket: with a setting, a file goes once its upload has ended, and no other', () => {
    const kept = resourceOf(synthesised(WITH_OPTIONS)('data'), 'AWS::S3::Bucket', 'Uploads');
    const { Rules } = kept.Properties.LifecycleConfiguration;
    const expiring = Rules.filter((rule: object) => /expiration/i.test(Object.keys(rule).join()));
    expect(expiring).toEqual([
      {
        Id: 'ended',
        Status: 'Enabled',
        Prefix: 'uploads/',
        // The worker sets it after the last part.
        TagFilters: [{ Key: 'upload', Value: 'ended' }],
        ExpirationInDays: 400,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      },
    ]);
    // A marker without a version behind it.
    expect(Rules).toContainEqual({
      ...{ Id: 'markers', Status: 'Enabled', Prefix: 'uploads/' },
      ExpiredObjectDeleteMarker: true,
    });
  });

  it('raw ingest bucket: without a setting, no lifecycle rule deletes a file', () => {
    for (const rule of bucket.Properties.LifecycleConfiguration.Rules) {
      expect(Object.keys(rule).filter((key) => /expiration/i.test(key))).toEqual([]);
    }
  });

  it.each<[string, object]>([
    ['deletes of objects and versions', { Action: ['s3:DeleteObject', 's3:DeleteObjectVersion'] }],
    [
      'a put where something is, or one that does not say that nothing may be there',
      {
        Action: 's3:PutObject',
        Resource: { 'Fn::Join': ['', [{ 'Fn::GetAtt': [expect.stringMatching(/^Uploads/), 'Arn'] }, '/*']] },
        Condition: { Null: { 's3:if-none-match': 'true' } },
      },
    ],
  ])('raw ingest bucket: its policy denies %s', (_, statement) => {
    const everybody = { Effect: 'Deny', Principal: { AWS: '*' } };
    expect(policy).toContainEqual(expect.objectContaining({ ...everybody, ...statement }));
  });

  it('raw ingest bucket: sends an event for each object to EventBridge', () => {
    expect(bucket.Properties.NotificationConfiguration).toEqual({
      EventBridgeConfiguration: { EventBridgeEnabled: true },
    });
  });
});

describe('the secret', () => {
  it('is generated, once, of 256 bits, in hexadecimal', () => {
    const { GenerateSecretString } = onlyOf(data, 'AWS::SecretsManager::Secret');
    expect(GenerateSecretString).toEqual({
      PasswordLength: 64,
      ExcludeUppercase: true,
      ExcludePunctuation: true,
      ExcludeCharacters: 'ghijklmnopqrstuvwxyz',
      RequireEachIncludedType: false,
    });
    expect(resourceOf(data, 'AWS::SecretsManager::Secret', 'Secret')).toMatchObject(RETAINED);
  });
});

describe('the key of the log', () => {
  const keysIn = (context: object) => Object.values(synthesised(context)('data').findResources('AWS::KMS::Key'));
  const arnsOf = (context: object) => {
    const { Environment } = Object.values(synthesised(context)('api').findResources('AWS::Lambda::Function'))
      .map(({ Properties }) => Properties)
      .find(({ FunctionName: name }) => name === 'tidemark-publish') as Properties;
    return JSON.stringify(Environment.Variables.TIDEMARK_LOG_KEY_ARNS);
  };
  const publisherArns = (context: object) => arnsOf(context).match(/Log\d+Key/g);

  it('is one of Ed25519 for signatures, and retained', () => {
    const [key, ...others] = keysIn(MINIMAL);
    expect(others).toEqual([]);
    expect(key).toMatchObject(RETAINED);
    expect(key?.Properties).toMatchObject({ KeySpec: 'ECC_NIST_EDWARDS25519', KeyUsage: 'SIGN_VERIFY' });
  });

  it('can have a replica in another region', () => {
    expect(keysIn(MINIMAL)[0]?.Properties.MultiRegion).toBe(true);
  });

  it('signs for the publisher alone, whatever the policy of a role allows', () => {
    const [key] = keysIn(MINIMAL);
    const denied = key?.Properties.KeyPolicy.Statement.filter(({ Effect }: { Effect: string }) => Effect === 'Deny');
    expect(denied).toMatchObject([{ Action: 'kms:Sign', Principal: { AWS: '*' }, Resource: '*' }]);
    const arn = JSON.stringify(denied[0].Condition.ArnNotEquals['aws:PrincipalArn']);
    const role = resourceOf(synthesised(MINIMAL)('api'), 'AWS::IAM::Role', 'publishRole').Properties.RoleName;
    expect(role).toBe('tidemark-us-east-1-publish');
    expect(arn).toContain(`:role/${role}"`);
  });

  it('may be the replicas of keys in another region, and then the stack makes none', () => {
    const arn = 'arn:aws:kms:us-east-1:123456789012:key/mrk-0123456789abcdef';
    const context = { ...MINIMAL, logKeyArns: [arn] };
    expect(keysIn(context)).toEqual([]);
    expect(arnsOf(context)).toBe(JSON.stringify(arn));
  });

  it('is followed by another in a rotation, and stays when it signs no more', () => {
    const rotating = { ...MINIMAL, logKeys: [2, 1] };
    const rotated = { ...MINIMAL, logKeys: [2] };
    for (const context of [rotating, rotated]) expect(keysIn(context)).toHaveLength(2);
    expect([MINIMAL, rotating, rotated].map(publisherArns)).toEqual([['Log1Key'], ['Log2Key', 'Log1Key'], ['Log2Key']]);
    // An export that another stack imports cannot go.
    const exportsOf = (context: object) => JSON.stringify(synthesised(context)('data').toJSON().Outputs);
    expect(exportsOf(rotated)).toBe(exportsOf(rotating));
  });
});

describe('the users', () => {
  it('are retained, and cannot be deleted with the stack by mistake', () => {
    const identity = template('identity');
    expect(resourceOf(identity, 'AWS::Cognito::UserPool', 'Users')).toMatchObject(RETAINED);
    expect(onlyOf(identity, 'AWS::Cognito::UserPool').DeletionProtection).toBe('ACTIVE');
  });
});
