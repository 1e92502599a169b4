/** One Lambda function with its own role and log. */
import { join } from 'node:path';
import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Alarm, ComparisonOperator, type IAlarm, Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Alias,
  Architecture,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName, functionName } from '../deployment/names.ts';
import { ACCESS, type FunctionName } from '../deployment/permissions.ts';
import { type AccessTargets, accessPolicy } from '../deployment/policies.ts';

/** Writers and readers wait for these functions. All others run by schedule, and repeat their work. */
export const BY_CANARY: readonly FunctionName[] = ['write-api', 'worker', 'publish'];

export interface ServiceFunctionProps {
  readonly name: FunctionName;
  readonly configuration: Configuration;
  /** The folder with one subfolder for each function's bundle. */
  readonly bundles: string;
  readonly targets: Omit<AccessTargets, 'logGroup'>;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Further permissions: for its trigger, and for the queue of failures. */
  readonly statements?: readonly PolicyStatement[];
  readonly reservedConcurrency?: number | undefined;
}

export class ServiceFunction extends Construct {
  /** The function or alias that triggers invoke. */
  readonly function: IFunction;
  readonly logGroup: LogGroup;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const { name, configuration, reservedConcurrency } = props;
    const ownName = functionName(configuration, name);
    this.logGroup = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${ownName}`,
      retention: configuration.logRetentionDays as RetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Built from the name, because the ARN attribute of the log group ends with a colon and an asterisk.
    const logGroup = Stack.of(this).formatArn({
      service: 'logs',
      resource: 'log-group',
      resourceName: `/aws/lambda/${ownName}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const role = new Role(this, 'Role', {
      roleName: accountWideName(configuration, name),
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { access: accessPolicy(ACCESS[name], { ...props.targets, logGroup }, props.statements) },
    });
    const released = new LambdaFunction(this, 'Function', {
      functionName: ownName,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: Code.fromAsset(join(props.bundles, name)),
      memorySize: props.memoryMegabytes,
      timeout: Duration.seconds(props.timeoutSeconds),
      environment: { ...props.environment },
      // The role's policy is complete, so CDK must not add permissions to it.
      role: role.withoutPolicyUpdates(),
      logGroup: this.logGroup,
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
    });
    this.function = BY_CANARY.includes(name)
      ? new Canary(this, 'Canary', { name, configuration, released }).alias
      : released;
  }
}

const ALIAS = 'live';

/**
 * For five minutes, a new version of a function receives a tenth of its calls, beside the previous version. If an alarm is
 * raised, CodeDeploy sends all calls to the previous version again, and CloudFormation rolls back the whole deployment.
 * Versions may run side by side: the format of the ledger decides which of them may write (docs/decisions/016-formats.md).
 */
class Canary extends Construct {
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
