/**
 * For five minutes, a new version of a function receives a tenth of its calls, beside the previous version. If an alarm is
 * raised, CodeDeploy sends all calls to the previous version again, and CloudFormation rolls back the whole deployment.
 * Versions may run side by side: the format of the ledger decides which of them may write (docs/decisions/016-formats.md).
 */
import { Duration } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IAlarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IFunction, type IVersion, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Configuration } from '../deployment/configuration.ts';
import type { FunctionName } from '../deployment/permissions.ts';

const ALIAS = 'live';

export class Canary extends Construct {
  /** The alias that triggers invoke: the previous version, and for a share of the calls the new one. */
  readonly alias: IFunction;

  constructor(
    scope: Construct,
    id: string,
    props: { readonly name: FunctionName; readonly configuration: Configuration; readonly released: LambdaFunction },
  ) {
    super(scope, id);
    const { name, configuration, released } = props;
    // The library's own classes do not fit its interfaces under `exactOptionalPropertyTypes`.
    const alias = new Alias(this, 'Alias', { aliasName: ALIAS, version: released.currentVersion as IVersion });
    this.alias = alias as IFunction;
    new LambdaDeploymentGroup(this, 'Group', {
      application: new LambdaApplication(this, 'Application'),
      alias,
      deploymentConfig: configuration.canary
        ? LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES
        : LambdaDeploymentConfig.ALL_AT_ONCE,
      alarms: [this.#addAlarm(name, configuration, released)],
    });
  }

  /**
   * An alarm about the new version alone: a release that repairs a failing version must not be rolled back for that
   * version's failures. It is in this stack, because a deployment needs it before the stack of the other alarms exists.
   */
  #addAlarm(
    name: FunctionName,
    configuration: Configuration,
    { functionName, currentVersion }: LambdaFunction,
  ): IAlarm {
    return new Alarm(this, 'Errors', {
      alarmName: `${configuration.name}-${name}-canary`,
      alarmDescription: 'Takes a deployment back. See docs/deploy.md, "Upgrade".',
      metric: new Metric({
        ...{ namespace: 'AWS/Lambda', metricName: 'Errors', statistic: Stats.SUM, period: Duration.minutes(1) },
        dimensionsMap: {
          FunctionName: functionName,
          Resource: `${functionName}:${ALIAS}`,
          ExecutedVersion: currentVersion.version,
        },
      }),
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}
