/** The full republish as a state machine. */
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { Configuration } from '../configuration.ts';
import { allow } from '../policies.ts';
import { republishDefinition } from '../republish-definition.ts';
import type { ServiceFunction } from './service-function.ts';

export interface RepublishProps {
  readonly configuration: Configuration;
  readonly plan: ServiceFunction;
  readonly range: ServiceFunction;
  readonly commit: ServiceFunction;
}

/** Made of names, so that what starts the state machine may be there before it, and be part of it. */
export function republishArn(stack: Stack, configuration: Configuration): string {
  return arnOf(stack, 'stateMachine', nameOf(configuration));
}

function nameOf({ name }: Configuration): string {
  return `${name}-republish`;
}

function arnOf(stack: Stack, resource: string, resourceName: string): string {
  return stack.formatArn({ service: 'states', resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME });
}

export class Republish extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: RepublishProps) {
    super(scope, id);
    const { configuration, plan, range, commit } = props;
    const stack = Stack.of(this);
    const stateMachineName = nameOf(configuration);
    const functionArns = [plan, range, commit].map((step) => step.function.functionArn);
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('states.amazonaws.com'),
      inlinePolicies: {
        access: new PolicyDocument({
          statements: [
            allow(['lambda:InvokeFunction'], functionArns),
            // A distributed map starts executions of the machine that it is part of, and follows them.
            allow(['states:StartExecution'], [republishArn(stack, configuration)]),
            allow(
              ['states:DescribeExecution', 'states:StopExecution'],
              [arnOf(stack, 'execution', `${stateMachineName}/*`)],
            ),
            // Knows no resources.
            allow(LOG_DELIVERY, ['*']),
          ],
        }),
      },
    });
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineName,
      definitionBody: DefinitionBody.fromString(
        stack.toJsonString(
          republishDefinition({
            partition: stack.partition,
            planArn: plan.function.functionArn,
            rangeArn: range.function.functionArn,
            commitArn: commit.function.functionArn,
          }),
        ),
      ),
      role: role.withoutPolicyUpdates(),
      logs: {
        destination: new LogGroup(this, 'Log', {
          // Other names would fill the account's one policy for log delivery, which is short.
          logGroupName: `/aws/vendedlogs/states/${stateMachineName}`,
          retention: configuration.logRetentionDays as RetentionDays,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: LogLevel.ALL,
        includeExecutionData: false,
      },
    });
  }
}

/** By which Step Functions has its logs delivered. */
const LOG_DELIVERY = [
  'logs:CreateLogDelivery',
  'logs:DeleteLogDelivery',
  'logs:DescribeLogGroups',
  'logs:DescribeResourcePolicies',
  'logs:GetLogDelivery',
  'logs:ListLogDeliveries',
  'logs:PutResourcePolicy',
  'logs:UpdateLogDelivery',
];
