/** One Lambda function with its own role and log. */
import { join } from 'node:path';
import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Code, type IFunction, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName, functionName } from '../deployment/names.ts';
import { ACCESS, type FunctionName } from '../deployment/permissions.ts';
import { type AccessTargets, accessPolicy } from '../deployment/policies.ts';
import { Canary } from './canary.ts';

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
