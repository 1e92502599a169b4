/** The DNS records of a distribution with its own host name, if CDK is to create them. */
import type { IDistribution } from 'aws-cdk-lib/aws-cloudfront';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { DomainConfiguration } from '../deployment/configuration.ts';

export function addAliasRecords(
  scope: Construct,
  { host, hostedZone }: DomainConfiguration,
  distribution: IDistribution,
): void {
  if (hostedZone === undefined) return;
  const zone = HostedZone.fromHostedZoneAttributes(scope, 'Zone', {
    hostedZoneId: hostedZone.id,
    zoneName: hostedZone.name,
  });
  const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution));
  new ARecord(scope, 'Ipv4', { zone, recordName: `${host}.`, target });
  new AaaaRecord(scope, 'Ipv6', { zone, recordName: `${host}.`, target });
}
