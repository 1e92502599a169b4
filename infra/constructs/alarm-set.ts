/** Alarms that publish to one topic. */
import { Stack } from 'aws-cdk-lib';
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { AlarmRule } from '../deployment/alarms.ts';
import type { Configuration } from '../deployment/configuration.ts';

export interface AlarmSetProps {
  readonly configuration: Configuration;
  readonly rules: readonly AlarmRule[];
}

export class AlarmSet extends Construct {
  readonly topic: Topic;

  constructor(scope: Construct, id: string, { configuration, rules }: AlarmSetProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Topic', { enforceSSL: true });
    // A topic with its own policy loses the default policy, which lets the account's alarms publish.
    this.allowPublishing('cloudwatch.amazonaws.com');
    if (configuration.alarmEmail !== undefined) {
      this.topic.addSubscription(new EmailSubscription(configuration.alarmEmail));
    }
    const action = new SnsAction(this.topic);
    for (const { name, means, metric, comparison, threshold, periods, missing } of rules) {
      const alarm = new Alarm(this, name, {
        alarmName: `${configuration.name}-${name}`,
        alarmDescription: `${means} See docs/operations.md, "${name}".`,
        metric,
        comparisonOperator: comparison,
        threshold,
        evaluationPeriods: periods,
        treatMissingData: missing,
      });
      alarm.addAlarmAction(action);
      alarm.addOkAction(action);
    }
  }

  /** Allows a service of AWS to publish, for this account only. */
  allowPublishing(service: string): void {
    this.topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal(service)],
        actions: ['sns:Publish'],
        resources: [this.topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
  }
}
