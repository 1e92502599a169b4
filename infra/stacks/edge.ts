/**
 * The public reads: one CloudFront distribution. Its only origin is the bucket of public objects, perhaps with a copy in a
 * second region as a fallback.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import {
  CachePolicy,
  CacheQueryStringBehavior,
  CfnDistribution,
  CfnMonitoringSubscription,
  CfnOriginAccessControl,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionRuntime,
  ResponseHeadersPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { BlockPublicAccess, Bucket, BucketEncryption, CfnBucketPolicy, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { FRESH_SECONDS, IMMUTABLE_SECONDS } from '../../contract/files/limits.ts';
import { ANY_MARKET_PAGE } from '../../contract/files/object-paths.ts';
import { PUBLIC_PREFIX, publicPath } from '../../contract/files/public-objects.ts';
import { CACHE_TAG_METADATA } from '../../storage/aws/names.ts';
import { addAliasRecords } from '../constructs/alias-records.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName, secondBucketName } from '../deployment/names.ts';
import { publicBucketPolicy } from '../deployment/public-bucket-policy.ts';

type EdgeFunctionName = 'router' | 'response';

/** Built by tools/build/build-router.ts. */
function functionText(name: EdgeFunctionName, { projections }: Pick<Configuration, 'projections'>): string {
  const text = readFileSync(join(import.meta.dirname, `../edge/${name}.generated.js`), 'utf8');
  if (name !== 'router' || projections.includes('market-pages')) return text;
  // The router cannot find out from the bucket whether a market has a page, so the deployment decides.
  const own = '"/markets/$1.html"';
  if (!text.includes(own)) throw new Error(`the built router has no ${own}`);
  return text.replace(own, JSON.stringify(ANY_MARKET_PAGE));
}

const METHODS = ['GET', 'HEAD', 'OPTIONS'];
const NOT_FOUND_PATH = publicPath({ kind: 'not-found' });
/** CloudFront tags cached objects by this header. */
const CACHE_TAG_HEADER = `x-amz-meta-${CACHE_TAG_METADATA}`;
/** For how long CloudFront remembers a failure of the origin. Its default is 10 seconds. */
const FAILURE_SECONDS = 5;
/**
 * Files that may have tens of megabytes, by the path of the reader's request. CloudFront chooses the origin by that path,
 * and runs the router later.
 */
const LARGE_FILES = [
  '/api/v1/latest/*',
  '/api/v1/exports/*',
  '/api/v1/compat/*',
  '/api/v1/markets/*/history.*',
  '/api/v1/markets/*/history/*',
];
/** Headers of S3 that only the publisher needs. Readers do not get them. */
const OF_THE_ORIGIN_ONLY = [
  'x-amz-id-2',
  'x-amz-meta-generation',
  'x-amz-meta-next-cursor',
  CACHE_TAG_HEADER,
  'x-amz-request-id',
  'x-amz-server-side-encryption',
];
const YEAR = Duration.days(365);
const ACCESS_LOG_DAYS = 30;

/** The statuses that count as failures of an origin. A 404 is an answer, and a 403 is a wrong setup that must raise an alarm. */
const ORIGIN_FAILURES = [500, 502, 503, 504];

/** The origin with the same objects in the second region. */
function secondOf(
  first: CfnDistribution.OriginProperty,
  configuration: Configuration,
  secondRegion: string,
): CfnDistribution.OriginProperty {
  const domainName = `${secondBucketName(configuration, secondRegion)}.s3.${secondRegion}.amazonaws.com`;
  return { ...first, domainName, id: `second-${first.id}` };
}

/**
 * CloudFront tries the second origin when the first fails or times out, separately for each request. Both are buckets with
 * the same objects, so the error pages of the distribution are right for both.
 */
function groupsOf(
  origins: readonly CfnDistribution.OriginProperty[],
  nameOf: (id: string) => string,
): CfnDistribution.OriginGroupsProperty {
  const items = origins.map(({ id }) => ({
    id: nameOf(id),
    failoverCriteria: { statusCodes: { quantity: ORIGIN_FAILURES.length, items: ORIGIN_FAILURES } },
    members: { quantity: 2, items: [{ originId: id }, { originId: `second-${id}` }] },
  }));
  return { quantity: items.length, items };
}

export interface EdgeStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly publicBucket: Bucket;
}

export class EdgeStack extends Stack {
  readonly distributionId: string;
  readonly distributionArn: string;
  /** The names of the functions that run for each read. */
  readonly functionNames: readonly string[];
  /** The base URL for readers, without a slash at the end. */
  readonly readBaseUrl: string;

  constructor(scope: Construct, id: string, { configuration, publicBucket, ...props }: EdgeStackProps) {
    super(scope, id, props);
    const functions = {
      router: this.#addFunction(configuration, 'Router', 'router'),
      response: this.#addFunction(configuration, 'Response', 'response'),
    };
    const distribution = this.#addDistribution(configuration, publicBucket, functions);
    this.functionNames = Object.values(functions).map(({ functionName }) => functionName);
    this.distributionId = distribution.attrId;
    this.distributionArn = `arn:${this.partition}:cloudfront::${this.account}:distribution/${distribution.attrId}`;
    new CfnMonitoringSubscription(this, 'Metrics', {
      distributionId: distribution.attrId,
      monitoringSubscription: { realtimeMetricsSubscriptionConfig: { realtimeMetricsSubscriptionStatus: 'Enabled' } },
    });
    new CfnBucketPolicy(this, 'PublicObjectsPolicy', {
      bucket: publicBucket.bucketName,
      policyDocument: publicBucketPolicy(publicBucket.bucketArn, this.distributionArn),
    });
    this.readBaseUrl = `https://${this.#addDomain(configuration, distribution) ?? distribution.attrDomainName}`;
  }

  #addDistribution(
    configuration: Configuration,
    publicBucket: Bucket,
    { router, response }: Readonly<Record<EdgeFunctionName, EdgeFunction>>,
  ): CfnDistribution {
    const { readDomain, readWebAclArn, readAccessLogs, secondRegion } = configuration;
    const accessControl = new CfnOriginAccessControl(this, 'OriginAccess', {
      originAccessControlConfig: {
        name: accountWideName(configuration, 'public-objects'),
        originAccessControlOriginType: 's3',
        signingBehavior: 'always',
        signingProtocol: 'sigv4',
      },
    });
    const origin = {
      domainName: publicBucket.bucketRegionalDomainName,
      // Readers cannot change this prefix. So they cannot reach any other object of the bucket.
      originPath: `/${PUBLIC_PREFIX}`,
      originAccessControlId: accessControl.attrId,
      // If the origin does not respond at all, each request with a stale body waits this long.
      connectionAttempts: 1,
      connectionTimeout: 2,
      s3OriginConfig: { originAccessIdentity: '', originReadTimeout: 3 },
    };
    const behaviour = {
      viewerProtocolPolicy: 'redirect-to-https',
      allowedMethods: METHODS,
      cachedMethods: ['GET', 'HEAD'],
      compress: true,
      cachePolicyId: this.#addCachePolicy().cachePolicyId,
      responseHeadersPolicyId: this.#addResponseHeaders(configuration).responseHeadersPolicyId,
      functionAssociations: [
        { eventType: 'viewer-request', functionArn: router.functionArn },
        { eventType: 'viewer-response', functionArn: response.functionArn },
      ],
    };
    const origins: readonly CfnDistribution.OriginProperty[] = [
      { ...origin, id: 'public-objects', responseCompletionTimeout: 5 },
      // The whole answer has no time limit, because a large file takes longer. Each packet must still arrive within the
      // read timeout.
      { ...origin, id: 'large-files' },
    ];
    const seconds = secondRegion === undefined ? [] : origins.map((one) => secondOf(one, configuration, secondRegion));
    const targetOf = (id: string) => (seconds.length === 0 ? id : `${id}-of-both`);
    return new CfnDistribution(this, 'Distribution', {
      distributionConfig: {
        enabled: true,
        comment: `${configuration.name}: public reads`,
        httpVersion: 'http2and3',
        ipv6Enabled: true,
        origins: [...origins, ...seconds],
        ...(seconds.length === 0 ? {} : { originGroups: groupsOf(origins, targetOf) }),
        // The router accepts both names of the page, so it does not matter which one CloudFront passes.
        defaultRootObject: 'index.html',
        defaultCacheBehavior: { ...behaviour, targetOriginId: targetOf('public-objects') },
        cacheBehaviors: LARGE_FILES.map((pathPattern) => ({
          ...behaviour,
          pathPattern,
          targetOriginId: targetOf('large-files'),
        })),
        // 5xx has no error page, because CloudFront must serve a stale body first. 403 has no entry, because it means a
        // wrong setup.
        customErrorResponses: [
          ...ORIGIN_FAILURES.map((errorCode) => ({ errorCode, errorCachingMinTtl: FAILURE_SECONDS })),
          { errorCode: 404, responseCode: 404, responsePagePath: NOT_FOUND_PATH, errorCachingMinTtl: FRESH_SECONDS },
        ],
        cacheTagConfig: { headerName: CACHE_TAG_HEADER },
        ...(readWebAclArn === undefined ? {} : { webAclId: readWebAclArn }),
        ...(readAccessLogs ? { logging: this.#addAccessLogs() } : {}),
        ...(readDomain === undefined
          ? { viewerCertificate: { cloudFrontDefaultCertificate: true } }
          : {
              aliases: [readDomain.host],
              viewerCertificate: {
                acmCertificateArn: readDomain.certificateArn,
                sslSupportMethod: 'sni-only',
                minimumProtocolVersion: 'TLSv1.2_2021',
              },
            }),
      },
    });
  }

  /**
   * Only the path is in the cache key. The maximum TTL is the lifetime of immutable objects; it covers stale-if-error.
   * Minimum TTL is 0, so `no-store` is honoured.
   */
  #addCachePolicy(): CachePolicy {
    return new CachePolicy(this, 'CachePolicy', {
      minTtl: Duration.seconds(0),
      defaultTtl: Duration.seconds(FRESH_SECONDS),
      maxTtl: Duration.seconds(IMMUTABLE_SECONDS),
      queryStringBehavior: CacheQueryStringBehavior.none(),
      enableAcceptEncodingBrotli: true,
      enableAcceptEncodingGzip: true,
    });
  }

  /**
   * Adds no Cache-Control, because errors would get it too. Headers are removed only from answers to readers, not from the
   * cache.
   */
  #addResponseHeaders(configuration: Configuration): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'ResponseHeaders', {
      responseHeadersPolicyName: accountWideName(configuration, 'read-headers'),
      corsBehavior: {
        accessControlAllowCredentials: false,
        // The router answers preflights. Its `*` cannot be combined with a list here.
        accessControlAllowHeaders: ['Authorization', 'Cache-Control', 'Content-Type', 'If-None-Match'],
        accessControlAllowMethods: METHODS,
        accessControlAllowOrigins: ['*'],
        accessControlExposeHeaders: ['ETag', 'Age', 'Accept-Ranges', 'Content-Range'],
        // The store does not send such headers. If CloudFront treats the router's headers as the origin's, they must stay.
        originOverride: false,
      },
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        strictTransportSecurity: { accessControlMaxAge: YEAR, includeSubdomains: true, override: true },
      },
      removeHeaders: OF_THE_ORIGIN_ONLY,
    });
  }

  #addFunction(configuration: Configuration, id: string, name: EdgeFunctionName): EdgeFunction {
    return new EdgeFunction(this, id, {
      // The alarms are in another stack, and refer to the function by this name.
      functionName: accountWideName(configuration, name),
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(functionText(name, configuration)),
    });
  }

  /** Access logs hold readers' addresses, so they are off by default. */
  #addAccessLogs(): CfnDistribution.LoggingProperty {
    const bucket = new Bucket(this, 'AccessLogs', {
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      // CloudFront delivers logs by access control list.
      objectOwnership: ObjectOwnership.OBJECT_WRITER,
      lifecycleRules: [{ expiration: Duration.days(ACCESS_LOG_DAYS) }],
      removalPolicy: RemovalPolicy.RETAIN,
    });
    return { bucket: bucket.bucketRegionalDomainName, includeCookies: false };
  }

  #addDomain({ readDomain }: Configuration, distribution: CfnDistribution): string | null {
    if (readDomain === undefined) return null;
    const alias = Distribution.fromDistributionAttributes(this, 'Alias', {
      distributionId: distribution.attrId,
      domainName: distribution.attrDomainName,
    });
    addAliasRecords(this, readDomain, alias);
    return readDomain.host;
  }
}
