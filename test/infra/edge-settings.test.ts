/** The settings of the CDN and of its origin that make the contract true, each asserted in the template. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { PUBLIC_CACHE_CONTROL } from '../../contract/files/public-objects.ts';
import { routeRead } from '../../server/edge/route.ts';
import { MINIMAL, onlyOf, type Properties, WITH_OPTIONS } from './synthesised.ts';
import { synthesised } from './templates.ts';

const template = synthesised();
const edge = template('edge');
const distribution = onlyOf(edge, 'AWS::CloudFront::Distribution').DistributionConfig;
const behaviour = distribution.DefaultCacheBehavior;
const cachePolicy = onlyOf(edge, 'AWS::CloudFront::CachePolicy').CachePolicyConfig;
const headersPolicy = onlyOf(edge, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig;
const bucketPolicy = onlyOf(edge, 'AWS::S3::BucketPolicy');
const statements: Properties[] = bucketPolicy.PolicyDocument.Statement;
const statement = (sid: string): Properties => statements.find(({ Sid }) => Sid === sid);

const BUCKET = { 'Fn::ImportValue': expect.stringContaining('PublicObjects') };
const objects = (pattern: string) => ({ 'Fn::Join': ['', [BUCKET, `/${pattern}`]] });
const THIS_DISTRIBUTION = {
  StringEquals: {
    'AWS:SourceArn': {
      'Fn::Join': [
        '',
        [
          'arn:',
          { Ref: 'AWS::Partition' },
          ':cloudfront::',
          { Ref: 'AWS::AccountId' },
          ':distribution/',
          { 'Fn::GetAtt': ['Distribution', 'Id'] },
        ],
      ],
    },
  },
};

describe('the public objects bucket', () => {
  const buckets = Object.entries(template('data').findResources('AWS::S3::Bucket'));
  const bucket: Properties = buckets.find(([id]) => id.startsWith('PublicObjects'))?.[1];

  it('bucket encryption AES256: the ETag is the MD5 of the body', () => {
    expect(bucket.Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ]);
  });

  // nag.test.ts finds one that is public.
  it('bucket: owner enforced, versions for a day, multipart aborted after a day, retained', () => {
    expect(bucket.Properties.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }]);
    expect(bucket.Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    expect(bucket.Properties.LifecycleConfiguration.Rules).toEqual([
      { Id: 'unfinished-uploads', Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
      {
        ...{ Id: 'versions', Status: 'Enabled', ExpiredObjectDeleteMarker: true },
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      },
    ]);
    expect(bucket).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });
});

describe('the distribution', () => {
  const { OriginAccessControlConfig: access } = onlyOf(edge, 'AWS::CloudFront::OriginAccessControl');
  const errors = [500, 502, 503, 504].map((ErrorCode) => ({ ErrorCode, ErrorCachingMinTTL: 5 }));
  const missing = { ErrorCode: 404, ResponseCode: 404, ResponsePagePath: '/errors/404.json', ErrorCachingMinTTL: 15 };

  it.each<[string, unknown, unknown]>([
    ['Compress', behaviour.Compress, true],
    ['methods: allows', behaviour.AllowedMethods, ['GET', 'HEAD', 'OPTIONS']],
    ['methods: caches', behaviour.CachedMethods, ['GET', 'HEAD']],
    ['cache tags', distribution.CacheTagConfig, { HeaderName: 'x-amz-meta-cache-tag' }],
    ['custom error responses: exactly these, and not for 403', distribution.CustomErrorResponses, [...errors, missing]],
    ['origin access: OAC of', access.OriginAccessControlOriginType, 's3'],
    ['origin access: signed', access.SigningBehavior, 'always'],
    ['origin access: signed by', access.SigningProtocol, 'sigv4'],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('cache policy TTL min/default/max: 0 / 15 s / a year', () => {
    expect(cachePolicy).toMatchObject({ MinTTL: 0, DefaultTTL: 15, MaxTTL: 31_536_000 });
    expect(PUBLIC_CACHE_CONTROL).toBe('public, max-age=15, stale-if-error=300');
  });

  it('cache key: no query strings, headers or cookies; gzip and brotli on; no origin request policy', () => {
    expect(cachePolicy.ParametersInCacheKeyAndForwardedToOrigin).toEqual({
      CookiesConfig: { CookieBehavior: 'none' },
      HeadersConfig: { HeaderBehavior: 'none' },
      QueryStringsConfig: { QueryStringBehavior: 'none' },
      EnableAcceptEncodingBrotli: true,
      EnableAcceptEncodingGzip: true,
    });
    expect(behaviour.CachePolicyId).toEqual({ Ref: expect.stringMatching(/^CachePolicy/) });
    expect(behaviour).not.toHaveProperty('OriginRequestPolicyId');
    expect(behaviour).not.toHaveProperty('ForwardedValues');
  });

  it('origin: one attempt, connect 2 s, read 3 s; completion 5 s, but not of large files', () => {
    const origin = {
      DomainName: { 'Fn::ImportValue': expect.stringMatching(/PublicObjects.*RegionalDomainName/) },
      OriginPath: '/public',
      OriginAccessControlId: { 'Fn::GetAtt': ['OriginAccess', 'Id'] },
      ConnectionAttempts: 1,
      ConnectionTimeout: 2,
      S3OriginConfig: { OriginAccessIdentity: '', OriginReadTimeout: 3 },
    };
    expect(distribution.Origins).toEqual([
      { ...origin, Id: 'public-objects', ResponseCompletionTimeout: 5 },
      { ...origin, Id: 'large-files' },
    ]);
  });

  it('read distribution has only the S3 bucket as its origin, without Origin Shield', () => {
    const domains = new Set(distribution.Origins.map(({ DomainName }: Properties) => JSON.stringify(DomainName)));
    expect(domains.size).toBe(1);
    expect(distribution).not.toHaveProperty('OriginGroups');
    expect(JSON.stringify(edge.toJSON())).not.toContain('OriginShield');
  });

  it('behaviours: all are alike; files that may be large have the origin without a completion time', () => {
    const large: Properties[] = distribution.CacheBehaviors;
    for (const { PathPattern: _, ...others } of large) {
      expect(others).toEqual({ ...behaviour, TargetOriginId: 'large-files' });
    }
    const patterns = large.map(
      ({ PathPattern }) => new RegExp(`^${PathPattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`),
    );
    const originOf = (path: string) =>
      patterns.some((pattern) => pattern.test(path)) ? 'large-files' : 'public-objects';
    expect(
      [
        '/api/v1/latest/all.csv',
        '/api/v1/latest/3f.ndjson',
        '/api/v1/exports/2026-11-22/datapackage.json',
        '/api/v1/markets/a/history.csv',
        '/api/v1/markets/a/history/2026.ndjson',
        '/api/v1/compat/quotes/0.json',
      ].map(originOf),
    ).toEqual(Array(6).fill('large-files'));
    expect(
      [
        '/',
        '/markets/a',
        '/api/v1/markets',
        '/api/v1/markets/a',
        '/api/v1/markets/a/history',
        '/api/v1/snapshot',
        '/api/v1/log/checkpoint',
      ].map(originOf),
    ).toEqual(Array(7).fill('public-objects'));
  });

  it('default root object: the first page, not the listing of the bucket', () => {
    const [byRouter, byDefault] = ['/', `/${distribution.DefaultRootObject}`].map((url) => routeRead('GET', url));
    expect(byDefault).toMatchObject({ kind: 'object', key: 'public/index.html' });
    expect(byRouter).toEqual(byDefault);
  });

  it('edge functions: the router on requests, the status on responses; runtime JS 2.0, built files of at most 10,240 B', () => {
    const arnOf = (id: RegExp) => ({ 'Fn::GetAtt': [expect.stringMatching(id), 'FunctionARN'] });
    expect(behaviour.FunctionAssociations).toEqual([
      { EventType: 'viewer-request', FunctionARN: arnOf(/^Router/) },
      { EventType: 'viewer-response', FunctionARN: arnOf(/^Response/) },
    ]);
    expect(behaviour).not.toHaveProperty('LambdaFunctionAssociations');
    const functions: [string, Properties][] = Object.entries(edge.findResources('AWS::CloudFront::Function'));
    expect(functions).toHaveLength(2);
    for (const [id, { Properties }] of functions) {
      const { FunctionCode, FunctionConfig, AutoPublish } = Properties;
      const file = id.startsWith('Router') ? 'router' : 'response';
      expect(FunctionConfig.Runtime).toBe('cloudfront-js-2.0');
      expect(AutoPublish).toBe(true);
      const built = join(import.meta.dirname, `../../infra/edge/${file}.generated.js`);
      expect(FunctionCode).toBe(readFileSync(built, 'utf8'));
      expect(Buffer.byteLength(FunctionCode)).toBeLessThanOrEqual(10_240);
    }
  });

  it('the function on responses reads a field that the headers policy leaves', () => {
    const removed = headersPolicy.RemoveHeadersConfig.Items.map(({ Header }: Properties) => Header);
    expect(removed).not.toContain('content-type');
  });

  it('response headers policy: CORS *, exposes ETag and Age, nosniff, HSTS; no Cache-Control', () => {
    expect(behaviour.ResponseHeadersPolicyId).toEqual({ Ref: expect.stringMatching(/^ResponseHeaders/) });
    expect(headersPolicy.CorsConfig).toMatchObject({
      AccessControlAllowCredentials: false,
      AccessControlAllowOrigins: { Items: ['*'] },
      AccessControlExposeHeaders: { Items: ['ETag', 'Age', 'Accept-Ranges', 'Content-Range'] },
      // So that the preflights of the router keep their own.
      OriginOverride: false,
    });
    expect(headersPolicy.SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, IncludeSubdomains: true, Override: true },
    });
    expect(headersPolicy).not.toHaveProperty('CustomHeadersConfig');
  });

  it('response headers policy: removes the metadata of S3, with the cache tag', () => {
    const removed = headersPolicy.RemoveHeadersConfig.Items.map(({ Header }: Properties) => Header);
    expect(removed.toSorted()).toEqual([
      'x-amz-id-2',
      'x-amz-meta-cache-tag',
      'x-amz-meta-generation',
      'x-amz-meta-next-cursor',
      'x-amz-request-id',
      'x-amz-server-side-encryption',
    ]);
  });
});

describe('the policy of the public objects bucket', () => {
  it('origin access: GetObject and ListBucket for this distribution, and no other permission', () => {
    const cdn = { Service: 'cloudfront.amazonaws.com' };
    expect(statements.filter(({ Effect }) => Effect === 'Allow')).toEqual([
      {
        Sid: 'CdnReadsPublicObjects',
        Effect: 'Allow',
        Principal: cdn,
        Action: 's3:GetObject',
        Resource: objects('public/*'),
        Condition: THIS_DISTRIBUTION,
      },
      {
        Sid: 'MissingIsNotForbidden',
        Effect: 'Allow',
        Principal: cdn,
        Action: 's3:ListBucket',
        Resource: BUCKET,
        Condition: THIS_DISTRIBUTION,
      },
    ]);
  });

  const pages = ['public/api/v1/markets/pages/*-', 'public/api/v1/markets/*/history/pages/*-'].map((start) =>
    objects(`${start}${'?'.repeat(32)}.json`),
  );

  it.each<[string, string, string | string[], unknown, object]>([
    [
      'what does not come over TLS',
      'OnlyOverTls',
      's3:*',
      [BUCKET, objects('*')],
      { Bool: { 'aws:SecureTransport': 'false' } },
    ],
    [
      'each put without a condition',
      'NoUnconditionalPut',
      's3:PutObject',
      objects('*'),
      { Null: { 's3:if-match': 'true', 's3:if-none-match': 'true' } },
    ],
    [
      'every delete that does not say which bytes it deletes',
      'NoUnconditionalDelete',
      ['s3:DeleteObject', 's3:DeleteObjectVersion'],
      objects('*'),
      { Null: { 's3:if-match': 'true' } },
    ],
    [
      'a put over immutable objects: pages, redo bundles, layouts',
      'ImmutableObjectsReplaceNothing',
      's3:PutObject',
      [...pages, objects('redo/*'), objects('layout/*')],
      { Null: { 's3:if-none-match': 'true' } },
    ],
  ])('denies %s', (_, sid, Action, Resource, Condition) => {
    const everybody = { Effect: 'Deny', Principal: { AWS: '*' } };
    expect(statement(sid)).toMatchObject({ ...everybody, Action, Resource, Condition });
  });
});

describe('options of the edge', () => {
  const built = synthesised(WITH_OPTIONS)('edge');
  const configOf = (built: Template) => onlyOf(built, 'AWS::CloudFront::Distribution').DistributionConfig;

  it('a host of its own has its certificate, TLS 1.2 at least, and its records in the hosted zone', () => {
    expect(configOf(built)).toMatchObject({
      Aliases: ['api.example.com'],
      ViewerCertificate: {
        AcmCertificateArn: WITH_OPTIONS.readDomain.certificateArn,
        MinimumProtocolVersion: 'TLSv1.2_2021',
        SslSupportMethod: 'sni-only',
      },
    });
    const records = Object.values(built.findResources('AWS::Route53::RecordSet')).map(({ Properties }) => Properties);
    expect(records.map(({ Type, Name }) => [Type, Name])).toEqual([
      ['A', 'api.example.com.'],
      ['AAAA', 'api.example.com.'],
    ]);
  });

  it('without a hosted zone no record is made', () => {
    const { host, certificateArn } = WITH_OPTIONS.readDomain;
    const without = synthesised({ ...MINIMAL, readDomain: { host, certificateArn } })('edge');
    without.resourceCountIs('AWS::Route53::RecordSet', 0);
  });

  it('a web ACL is put before it only where one is given', () => {
    expect(configOf(built).WebACLId).toBe(WITH_OPTIONS.readWebAclArn);
    expect(distribution).not.toHaveProperty('WebACLId');
  });

  it('the addresses of readers are logged only if it is configured, and kept for 30 days', () => {
    expect(distribution).not.toHaveProperty('Logging');
    expect(configOf(built).Logging).toMatchObject({ IncludeCookies: false });
    expect(onlyOf(built, 'AWS::S3::Bucket').LifecycleConfiguration.Rules).toEqual([
      { ExpirationInDays: 30, Status: 'Enabled' },
    ]);
  });
});
