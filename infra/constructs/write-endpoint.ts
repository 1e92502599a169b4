/**
 * The write host: a CloudFront distribution in front of the HTTP API of the write API's function. The HTTP API has the
 * throttle and an access log. Its own endpoint is as public as any other, so the function refuses requests without the
 * secret that the distribution adds.
 */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { ORIGIN_SECRET_HEADER } from '../../storage/aws/names.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName } from '../deployment/names.ts';
import { writeEdgeCode } from '../deployment/write-edge.ts';
import { addAliasRecords } from './alias-records.ts';

/**
 * Header, query, path and address are left out, because they may identify a person. The request id leads to the line in the
 * function's log, which names the operation.
 */
const ACCESS_LOG_FIELDS = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  method: '$context.httpMethod',
  status: '$context.status',
  bytes: '$context.responseLength',
  latencyMs: '$context.responseLatency',
  integrationLatencyMs: '$context.integrationLatency',
  integrationError: '$context.integrationErrorMessage',
};

/**
 * CloudFront keeps each of these errors for 10 seconds by default, even without caching: one sender's 404 would be sent to
 * another. It keeps no other errors.
 */
const ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** Longer than API Gateway's limit, so that its answer arrives. */
const ANSWERED_WITHIN = Duration.seconds(35);

export interface WriteEndpointProps {
  readonly configuration: Configuration;
  readonly handler: IFunction;
  /** The value that the distribution sends. The function must accept a new value before the distribution sends it. */
  readonly originSecret: Pick<ISecret, 'secretValue'>;
  readonly readBaseUrl: string;
  readonly webAclArn?: string | undefined;
}

export class WriteEndpoint extends Construct {
  readonly api: HttpApi;
  readonly distributionId: string;
  /** The base URL for writers, without a slash at the end. */
  readonly writeBaseUrl: string;

  constructor(scope: Construct, id: string, props: WriteEndpointProps) {
    super(scope, id);
    const { configuration, handler } = props;
    this.api = new HttpApi(this, 'HttpApi', {
      apiName: `${configuration.name}-write`,
      // The table of operations routes requests. A second list of routes here could contradict it.
      defaultIntegration: new HttpLambdaIntegration('Function', handler),
      createDefaultStage: false,
    });
    const stage = this.#addStage(configuration);
    const distribution = this.#addDistribution(props);
    distribution.node.addDependency(handler, stage);
    this.distributionId = distribution.distributionId;
    const { writeDomain } = configuration;
    if (writeDomain !== undefined) addAliasRecords(this, writeDomain, distribution);
    this.writeBaseUrl = `https://${writeDomain?.host ?? distribution.distributionDomainName}`;
  }

  #addStage({ name, throttle, logRetentionDays }: Configuration): HttpStage {
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/apigateway/${name}-write`,
      retention: logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    return new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttle.requestsPerSecond, burstLimit: throttle.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
    });
  }

  /** Forwards every request, and caches nothing. All answers come from the write API, errors included. */
  #addDistribution({ configuration, originSecret, readBaseUrl, webAclArn }: WriteEndpointProps): Distribution {
    const { name, writeDomain } = configuration;
    const code = FunctionCode.fromInline(writeEdgeCode(readBaseUrl));
    return new Distribution(this, 'Distribution', {
      comment: `${name}: writes`,
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: {
        origin: new HttpOrigin(`${this.api.apiId}.execute-api.${this.api.env.region}.amazonaws.com`, {
          // CloudFormation inserts the value when it deploys, so no template contains it.
          customHeaders: { [ORIGIN_SECRET_HEADER]: originSecret.secretValue.unsafeUnwrap() },
          connectionAttempts: 2,
          connectionTimeout: Duration.seconds(3),
          readTimeout: ANSWERED_WITHIN,
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        // There is no redirect: a credential in clear text has already leaked, and its sender must notice.
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        // Forwards `Authorization`. The host is left out, because API Gateway finds its API by the host.
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        // Compression would weaken ETags, and `If-Match` needs strong ones (RFC 9110, section 13.1.1).
        compress: false,
        responseHeadersPolicy: this.#addResponseHeaders(configuration),
        functionAssociations: [
          {
            eventType: FunctionEventType.VIEWER_REQUEST,
            function: new EdgeFunction(this, 'ViewerRequest', { runtime: FunctionRuntime.JS_2_0, code }),
          },
        ],
      },
      errorResponses: ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      ...(webAclArn === undefined ? {} : { webAclId: webAclArn }),
      ...(writeDomain === undefined
        ? {}
        : {
            domainNames: [writeDomain.host],
            certificate: Certificate.fromCertificateArn(this, 'Certificate', writeDomain.certificateArn),
            minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
          }),
    });
  }

  #addResponseHeaders(configuration: Configuration): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'ResponseHeaders', {
      responseHeadersPolicyName: accountWideName(configuration, 'write-headers'),
      securityHeadersBehavior: {
        contentTypeOptions: { override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), includeSubdomains: true, override: true },
      },
    });
  }
}
