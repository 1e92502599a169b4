/** The rate rule of AWS WAF for the write host, if one is configured. */
import { Stack, type StackProps } from 'aws-cdk-lib';
import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName } from '../deployment/names.ts';

const WINDOW_SECONDS = 60;

export interface WriteGuardStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly requestsPerMinute: number;
}

/** In us-east-1, because AWS WAF accepts web ACLs for CloudFront only there. */
export class WriteGuardStack extends Stack {
  readonly webAclArn: string;

  constructor(scope: Construct, id: string, { configuration, requestsPerMinute, ...props }: WriteGuardStackProps) {
    super(scope, id, props);
    const name = accountWideName(configuration, 'write');
    const measured = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false,
    });
    const acl = new CfnWebACL(this, 'WebAcl', {
      name,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: measured(name),
      rules: [
        {
          name: 'rate-of-one-address',
          priority: 0,
          statement: {
            rateBasedStatement: {
              aggregateKeyType: 'IP',
              limit: requestsPerMinute,
              evaluationWindowSec: WINDOW_SECONDS,
            },
          },
          action: {
            block: {
              customResponse: {
                responseCode: 429,
                responseHeaders: [
                  { name: 'retry-after', value: String(WINDOW_SECONDS) },
                  { name: 'access-control-allow-origin', value: '*' },
                ],
              },
            },
          },
          visibilityConfig: measured(`${name}-rate`),
        },
      ],
    });
    this.webAclArn = acl.attrArn;
  }
}
