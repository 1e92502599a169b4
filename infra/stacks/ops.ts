/** Alarms, the dashboard and the budget. */
import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Dashboard, GraphWidget, type IMetric, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { Construct } from 'constructs';
import { AlarmSet } from '../constructs/alarm-set.ts';
import {
  apiAlarms,
  CLOUDFRONT_METRICS_REGION,
  deployedMetrics,
  type EdgeIds,
  edgeAlarms,
  edgeMetric,
  tableThrottles,
} from '../deployment/alarms.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName } from '../deployment/names.ts';
import { functionsOf } from '../deployment/permissions.ts';
import type { ApiStack } from './api.ts';
import type { DataStack } from './data.ts';
import type { EdgeStack } from './edge.ts';

const PERIOD = Duration.minutes(5);

/** The estimated charges, which AWS reports in this region for the whole account, several times a day. */
const CHARGES = new Metric({
  ...{ namespace: 'AWS/Billing', metricName: 'EstimatedCharges', dimensionsMap: { Currency: 'USD' } },
  ...{ region: CLOUDFRONT_METRICS_REGION, statistic: Stats.MAXIMUM, period: Duration.hours(6) },
});

/** The percentages of the budget at which a mail is sent. */
const BUDGET_WARNINGS = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const;

export interface OpsStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly data: DataStack;
  readonly api: ApiStack;
  readonly edge: EdgeStack;
}

export class OpsStack extends Stack {
  constructor(scope: Construct, id: string, { configuration, data, api, edge, ...props }: OpsStackProps) {
    super(scope, id, props);
    // An alarm can use only metrics of its own region. In other regions, the alarms of the edge have a stack of their
    // own.
    const rules = [
      ...apiAlarms(configuration, data.table.tableName),
      ...(configuration.region === CLOUDFRONT_METRICS_REGION ? edgeAlarms(edgeIdsOf(api, edge)) : []),
    ];
    const alarms = new AlarmSet(this, 'Alarms', { configuration, rules });
    this.#addBudget(configuration, alarms);
    this.#addKeyWatch(data, alarms);
    this.#addDashboard(configuration, data, edge);
  }

  /**
   * Sends a mail at once when a key of the log is disabled or its deletion is scheduled. CloudTrail must log KMS, as it
   * does by default.
   */
  #addKeyWatch({ logKeys }: DataStack, alarms: AlarmSet): void {
    alarms.allowPublishing('events.amazonaws.com');
    new Rule(this, 'LogKeyWatch', {
      description: 'A key of the log was disabled, or its deletion was scheduled.',
      eventPattern: {
        source: ['aws.kms'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: {
          eventName: ['DisableKey', 'ScheduleKeyDeletion'],
          resources: { ARN: logKeys.map(({ keyArn }) => keyArn) },
        },
      },
      targets: [new SnsTopic(alarms.topic)],
    });
  }

  /** The budget covers the whole account: cost per deployment needs a tag that must first be activated for billing. */
  #addBudget(configuration: Configuration, alarms: AlarmSet): void {
    alarms.allowPublishing('budgets.amazonaws.com');
    const { topic } = alarms;
    const subscribers = [{ subscriptionType: 'SNS', address: topic.topicArn }];
    const budget = new CfnBudget(this, 'Budget', {
      budget: {
        budgetName: accountWideName(configuration, 'monthly'),
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: configuration.monthlyBudgetUsd, unit: 'USD' },
      },
      notificationsWithSubscribers: BUDGET_WARNINGS.map((warning) => ({
        notification: { ...warning, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
        subscribers,
      })),
    });
    // CloudFormation refuses the budget until AWS Budgets may publish to the topic.
    budget.node.addDependency(topic);
  }

  #addDashboard(configuration: Configuration, { table }: DataStack, { distributionId }: EdgeStack): void {
    const { ofFunction, published, workWaited, copyBehind, failures } = deployedMetrics(configuration);
    const edge = (metricName: string, statistic: string) =>
      edgeMetric({ DistributionId: distributionId }, metricName, statistic, PERIOD);
    const graph = (title: string, left: IMetric[], right: IMetric[] = [], region = this.region) =>
      new GraphWidget({ title, left, right, region, width: 12 });
    new Dashboard(this, 'Dashboard', {
      dashboardName: accountWideName(configuration, 'overview'),
      widgets: [
        [
          graph(
            'Reads, and errors in per cent',
            [edge('Requests', Stats.SUM)],
            [
              edge('4xxErrorRate', Stats.AVERAGE),
              edge('5xxErrorRate', Stats.AVERAGE),
              edge('403ErrorRate', Stats.AVERAGE),
            ],
            CLOUDFRONT_METRICS_REGION,
          ),
          graph('Cache hits in per cent', [edge('CacheHitRate', Stats.AVERAGE)], [], CLOUDFRONT_METRICS_REGION),
        ],
        [
          graph(
            'Writes',
            [ofFunction('write-api', 'Invocations', Stats.SUM, PERIOD)],
            [ofFunction('write-api', 'Duration', Stats.p(99), PERIOD)],
          ),
          graph(
            'Publishing: age of the stream and time taken, in ms',
            [ofFunction('publish', 'IteratorAge', Stats.MAXIMUM, PERIOD)],
            [published('duration', Stats.p(99), PERIOD)],
          ),
        ],
        [
          graph(
            'Freshness: since when marks are left, in ms; markets that are deferred',
            [published('behind', Stats.MAXIMUM, PERIOD)],
            [published('deferredTooLong', Stats.MAXIMUM, PERIOD)],
          ),
          graph(
            'Batches: longest wait, in ms; throttled requests to the ledger',
            [workWaited(Stats.MAXIMUM, PERIOD)],
            [tableThrottles(table.tableName)],
          ),
        ],
        [
          graph(
            'Errors',
            functionsOf(configuration).map((name) => ofFunction(name, 'Errors', Stats.SUM, PERIOD)),
          ),
          graph('Given up', [failures(Stats.MAXIMUM, PERIOD)]),
        ],
        ...(configuration.secondRegion === undefined
          ? []
          : [[graph('Second region: behind, in ms', [copyBehind(Stats.MAXIMUM, PERIOD)])]]),
        [
          // Only if billing alerts are switched on in the account.
          graph('Charges of this month so far, in USD', [CHARGES], [], CLOUDFRONT_METRICS_REGION),
        ],
      ],
    });
  }
}

export interface EdgeAlarmsStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly api: ApiStack;
  readonly edge: EdgeStack;
}

/** The alarms of the distributions, in the region of their metrics, for a deployment in another region. */
export class EdgeAlarmsStack extends Stack {
  constructor(scope: Construct, id: string, { configuration, api, edge, ...props }: EdgeAlarmsStackProps) {
    super(scope, id, props);
    new AlarmSet(this, 'Alarms', { configuration, rules: edgeAlarms(edgeIdsOf(api, edge)) });
  }
}

function edgeIdsOf(api: ApiStack, edge: EdgeStack): EdgeIds {
  return { reads: edge.distributionId, writes: api.endpoint.distributionId, functions: edge.functionNames };
}
