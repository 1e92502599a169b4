/** The HTTP API of the write API's function: TLS, a throttle, and an access log. */
import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { DomainName, HttpApi, HttpStage, LogGroupLogDestination, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import type { Configuration, DomainConfiguration } from '../configuration.ts';

/**
 * No header, query, path or address, because they may identify a person. The request id leads to the line in the
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

export interface WriteEndpointProps {
  readonly configuration: Configuration;
  readonly handler: IFunction;
}

export class WriteEndpoint extends Construct {
  readonly api: HttpApi;
  /** The base URL for writers, without a slash at the end. */
  readonly writeBaseUrl: string;

  constructor(scope: Construct, id: string, { configuration, handler }: WriteEndpointProps) {
    super(scope, id);
    const { name, throttle, logRetentionDays, writeDomain } = configuration;
    this.api = new HttpApi(this, 'HttpApi', {
      apiName: `${name}-write`,
      // The table of operations routes requests. A second list of routes here could only disagree.
      defaultIntegration: new HttpLambdaIntegration('Function', handler),
      createDefaultStage: false,
      disableExecuteApiEndpoint: writeDomain !== undefined,
    });
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/apigateway/${name}-write`,
      retention: logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttle.requestsPerSecond, burstLimit: throttle.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
      ...(writeDomain === undefined ? {} : { domainMapping: { domainName: this.#addDomain(writeDomain) } }),
    });
    this.writeBaseUrl = writeDomain === undefined ? this.api.apiEndpoint : `https://${writeDomain.host}`;
  }

  #addDomain({ host, certificateArn, hostedZone }: DomainConfiguration): DomainName {
    const domainName = new DomainName(this, 'Domain', {
      domainName: host,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
    if (hostedZone !== undefined) {
      const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', {
        hostedZoneId: hostedZone.id,
        zoneName: hostedZone.name,
      });
      const { regionalDomainName, regionalHostedZoneId } = domainName;
      const target = RecordTarget.fromAlias(new ApiGatewayv2DomainProperties(regionalDomainName, regionalHostedZoneId));
      new ARecord(this, 'Ipv4', { zone, recordName: `${host}.`, target });
      new AaaaRecord(this, 'Ipv6', { zone, recordName: `${host}.`, target });
    }
    return domainName;
  }
}
