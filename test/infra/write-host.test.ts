/** The settings of the write host, each asserted in the template; and its function at the edge, as CloudFront runs it. */
import { runInNewContext } from 'node:vm';
import type { Template } from 'aws-cdk-lib/assertions';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { problemType } from '../../contract/problems/edge-problems.ts';
import { PROBLEM_CODES } from '../../contract/problems/problems.ts';
import { writeEdgeCode } from '../../infra/deployment/write-edge.ts';
import { FUNCTION_LANGUAGE, FUNCTION_MAX_BYTES } from '../../tools/build/build-router.ts';
import { ELSEWHERE, onlyOf, type Properties, resourceOf, WITH_OPTIONS } from './synthesised.ts';
import { synthesised } from './templates.ts';

const api = synthesised()('api');
const configOf = (built: Template) => onlyOf(built, 'AWS::CloudFront::Distribution').DistributionConfig;
const distribution = configOf(api);
const behaviour = distribution.DefaultCacheBehavior;

describe('the distribution of the write host', () => {
  it('has the HTTP API as its only origin, and one behaviour', () => {
    expect(distribution.Origins).toHaveLength(1);
    expect(distribution).not.toHaveProperty('CacheBehaviors');
    expect(distribution.Origins[0].DomainName['Fn::Join'][1]).toEqual([
      { Ref: expect.stringMatching(/^WriteEndpointHttpApi/) },
      '.execute-api.us-east-1.amazonaws.com',
    ]);
  });

  it('waits longer for the origin than API Gateway takes, over TLS 1.2', () => {
    expect(distribution.Origins[0]).toMatchObject({
      ConnectionAttempts: 2,
      ConnectionTimeout: 3,
      CustomOriginConfig: {
        OriginProtocolPolicy: 'https-only',
        OriginSSLProtocols: ['TLSv1.2'],
        OriginReadTimeout: 35,
      },
    });
  });

  it.each<[string, unknown, unknown]>([
    ['keeps nothing: CachingDisabled', behaviour.CachePolicyId, '4135ea2d-6df8-44a3-9df3-4b5a84be39ad'],
    [
      'keeps no error for any time, of all that CloudFront can keep, and has no page in the place of a body',
      distribution.CustomErrorResponses,
      [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504].map((ErrorCode) => ({
        ErrorCode,
        ErrorCachingMinTTL: 0,
      })),
    ],
    ['passes every method on', behaviour.AllowedMethods, ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE']],
    [
      'passes every header on but Host: AllViewerExceptHostHeader',
      behaviour.OriginRequestPolicyId,
      'b689b0a8-53d0-40ab-baf2-68738e2966ac',
    ],
    ['leaves ETags strong: no compression', behaviour.Compress, false],
    ['takes nothing in clear text, not even to redirect it', behaviour.ViewerProtocolPolicy, 'https-only'],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('adds HSTS and nosniff, and no header that the write API sets itself', () => {
    const policy = onlyOf(api, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig;
    expect(policy.SecurityHeadersConfig).toEqual({
      ContentTypeOptions: { Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, IncludeSubdomains: true, Override: true },
    });
    expect(policy).not.toHaveProperty('CorsConfig');
    expect(policy).not.toHaveProperty('CustomHeadersConfig');
    expect(behaviour.ResponseHeadersPolicyId).toEqual({ Ref: expect.stringMatching(/^WriteEndpointResponseHeaders/) });
  });

  it('is the write host of the OpenAPI document and of the outputs', () => {
    const host = { 'Fn::GetAtt': [expect.stringMatching(/^WriteEndpointDistribution/), 'DomainName'] };
    const url = { 'Fn::Join': ['', ['https://', host]] };
    expect(variablesOf(api, 'publish').TIDEMARK_WRITE_BASE_URL).toEqual(url);
    expect(api.findOutputs('WriteBaseUrl').WriteBaseUrl?.Value).toEqual(url);
  });

  it('with a host of its own has its certificate, TLS 1.2 at least, and its records in the hosted zone', () => {
    const built = synthesised(WITH_OPTIONS)('api');
    const { certificateArn } = WITH_OPTIONS.writeDomain;
    expect(configOf(built)).toMatchObject({
      Aliases: ['write.example.com'],
      ViewerCertificate: { AcmCertificateArn: certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    expect(variablesOf(built, 'publish').TIDEMARK_WRITE_BASE_URL).toBe('https://write.example.com');
    const records = Object.values(built.findResources('AWS::Route53::RecordSet')).map(({ Properties }) => Properties);
    expect(records.map(({ Type, Name }) => [Type, Name])).toEqual([
      ['A', 'write.example.com.'],
      ['AAAA', 'write.example.com.'],
    ]);
  });
});

function variablesOf(built: Template, name: string): Properties {
  const found = built.findResources('AWS::Lambda::Function', { Properties: { FunctionName: `tidemark-${name}` } });
  return Object.values(found)[0]?.Properties.Environment.Variables;
}

describe('the secret of the write host', () => {
  const sentBy = (built: Template) => configOf(built).Origins[0].OriginCustomHeaders;
  const referenceTo = (number: number) => [
    '{{resolve:secretsmanager:',
    { Ref: expect.stringMatching(new RegExp(`^OriginSecret${number}[0-9A-F]{8}$`)) },
    ':SecretString:::}}',
  ];
  const acceptedBy = (built: Template) =>
    [
      variablesOf(built, 'write-api').TIDEMARK_ORIGIN_SECRET_ARNS['Fn::Join']?.[1] ??
        variablesOf(built, 'write-api').TIDEMARK_ORIGIN_SECRET_ARNS,
    ]
      .flat()
      .filter((part) => part !== ',');

  it('is generated, of 256 bits, and in no template', () => {
    expect(onlyOf(api, 'AWS::SecretsManager::Secret').GenerateSecretString).toMatchObject({ PasswordLength: 64 });
    expect(sentBy(api)).toEqual([
      { HeaderName: 'x-tidemark-origin-secret', HeaderValue: { 'Fn::Join': ['', referenceTo(1)] } },
    ]);
  });

  it('is accepted by the write API, which a deployment changes before the distribution', () => {
    expect(acceptedBy(api)).toEqual([referenceTo(1)[1]]);
    const { DependsOn } = resourceOf(api, 'AWS::CloudFront::Distribution', 'WriteEndpointDistribution');
    // The alias is changed when the new version has all calls.
    expect(DependsOn).toContainEqual(expect.stringMatching(/^writeapiCanaryAlias/));
  });

  it('is rotated by its number: the new one is sent, and the one before it is still accepted', () => {
    const rotated = synthesised(WITH_OPTIONS)('api');
    rotated.resourceCountIs('AWS::SecretsManager::Secret', 2);
    expect(sentBy(rotated)[0].HeaderValue).toEqual({ 'Fn::Join': ['', referenceTo(3)] });
    expect(acceptedBy(rotated)).toEqual([referenceTo(3)[1], referenceTo(2)[1]]);
  });
});

describe('the rate rule', () => {
  it('is absent without a setting, because it has a price', () => {
    expect(distribution).not.toHaveProperty('WebACLId');
  });

  it('blocks the requests of one address above the limit a minute, with 429', () => {
    const built = synthesised(WITH_OPTIONS);
    expect(configOf(built('api')).WebACLId).toEqual({ 'Fn::ImportValue': expect.stringContaining('write-guard') });
    const acl = onlyOf(built('write-guard'), 'AWS::WAFv2::WebACL');
    expect(acl).toMatchObject({ Scope: 'CLOUDFRONT', DefaultAction: { Allow: {} } });
    expect(acl.Rules).toHaveLength(1);
    expect(acl.Rules[0]).toMatchObject({
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit: 600, EvaluationWindowSec: 60 } },
      Action: { Block: { CustomResponse: { ResponseCode: 429 } } },
    });
  });

  it('reaches a deployment in another region', () => {
    const built = synthesised(ELSEWHERE);
    expect(JSON.stringify(configOf(built('api')).WebACLId)).toContain('WebAcl');
  });
});

describe('the function of the write host', () => {
  const code = writeEdgeCode('https://read.example');
  const run = (request: { method?: string; uri: string; headers?: object }) => {
    const event = { request: { method: 'GET', headers: {}, ...request }, viewer: { ip: '192.0.2.1' } };
    return runInNewContext(`${code}; JSON.parse(JSON.stringify(handler(event)))`, { event });
  };

  it('is that of the template, on viewer-request only, in the language of CloudFront', async () => {
    const { FunctionCode, FunctionConfig } = onlyOf(api, 'AWS::CloudFront::Function');
    expect(FunctionConfig.Runtime).toBe('cloudfront-js-2.0');
    const host = { 'Fn::ImportValue': expect.stringContaining('DomainName') };
    const [before, after] = code.split('read.example');
    expect(FunctionCode).toEqual({ 'Fn::Join': ['', [before, host, after]] });
    expect(behaviour.FunctionAssociations).toEqual([
      { EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': [expect.any(String), 'FunctionARN'] } },
    ]);
    expect(Buffer.byteLength(code)).toBeLessThan(FUNCTION_MAX_BYTES);
    // Nothing in it needs rewriting.
    expect((await transform(code, FUNCTION_LANGUAGE)).code).toBe((await transform(code)).code);
  });

  it('tells the origin the address of the viewer, whatever the viewer says', () => {
    const headers = { 'x-tidemark-viewer-address': { value: '198.51.100.1' }, accept: { value: '*/*' } };
    expect(run({ uri: '/api/v1/me', headers })).toEqual({
      method: 'GET',
      uri: '/api/v1/me',
      headers: { accept: { value: '*/*' }, 'x-tidemark-viewer-address': { value: '192.0.2.1' } },
    });
  });

  it.each(PROBLEM_CODES)('leads from the type of the problem %s to the catalogue', (problem) => {
    expect(run({ uri: problemType(problem) })).toMatchObject({
      statusCode: 302,
      headers: { location: { value: `https://read.example/problems/${problem}` } },
    });
  });

  it.each<[string, string]>([
    ['GET', '/problems'],
    ['GET', '/problems/'],
    ['GET', '/problems/a/b'],
    ['GET', '/problems/not-found/'],
    ['GET', '/problems/%0d%0a'],
    ['GET', '/problems/not-found\nx'],
    ['GET', '//evil.example/problems/not-found'],
    ['POST', '/problems/not-found'],
    ['OPTIONS', '/problems/not-found'],
  ])('passes on %s %j', (method, uri) => {
    expect(run({ method, uri })).toMatchObject({ method, uri });
  });
});
