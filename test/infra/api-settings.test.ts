/** The settings of what runs our code, each asserted in the template. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES, type FunctionName } from '../../infra/deployment/permissions.ts';
import { readLambdaEnvironment, type VariableName } from '../../storage/aws/lambda-environment.ts';
import {
  appOf,
  MINIMAL,
  onlyOf,
  type Properties,
  SECOND_REGION,
  stackOf,
  standInBundles,
  WITH_OPTIONS,
} from './synthesised.ts';
import { synthesised } from './templates.ts';

const api = synthesised()('api');

const functionOf = (built: Template, name: FunctionName): Properties =>
  Object.values(built.findResources('AWS::Lambda::Function', { Properties: { FunctionName: `tidemark-${name}` } }))[0]
    ?.Properties;

/** The logical ids of a type's resources that belong to a function. */
const idOf = (name: FunctionName) => `${name.replaceAll('-', '')}Function`;
const BY_CANARY: readonly FunctionName[] = ['write-api', 'worker', 'publish'];
/** Triggers invoke an alias, where a new version first takes a share of the calls. */
const invokes = (target: unknown, name: FunctionName) =>
  JSON.stringify(target).includes(
    `"${name.replaceAll('-', '')}${BY_CANARY.includes(name) ? 'CanaryAlias' : 'Function'}`,
  );
const propertiesOf = (type: string): Properties[] =>
  Object.values(api.findResources(type)).map(({ Properties }) => Properties);

const FAILURES = { 'Fn::GetAtt': [expect.stringMatching(/^Failures/), 'Arn'] };

describe('stream mapping', () => {
  const mappings = propertiesOf('AWS::Lambda::EventSourceMapping');
  /** The publisher reports it, because it has no other access to the audit. */
  const ANY_CHANGE_OF_THE_AUDIT = {
    eventName: ['MODIFY', 'REMOVE'],
    dynamodb: { Keys: { pk: { S: [{ prefix: 'audit/' }] } } },
  };
  const WOKEN = [
    // A lease is written over its item: it would ring for nothing.
    ['worker', ['INSERT'], ['work/'], 1],
    ['publish', ['INSERT', 'MODIFY'], ['dirty/', 'awaiting-generation/'], 5],
  ] as const;

  it('is one for each function that waits for something', () => {
    expect(mappings).toHaveLength(WOKEN.length);
  });

  it.each(WOKEN)(
    'of %s: TRIM_HORIZON, filter on %j in what begins with %j, window %i ≤ 5 s, parallelization 1, bounded',
    (name, events, partitions, seconds) => {
      const mapping = mappings.find(({ FunctionName }) => invokes(FunctionName, name));
      expect(mapping).toMatchObject({
        EventSourceArn: { 'Fn::ImportValue': expect.stringMatching(/StreamArn/) },
        StartingPosition: 'TRIM_HORIZON',
        ParallelizationFactor: 1,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 3,
        MaximumRecordAgeInSeconds: 3_600,
        DestinationConfig: { OnFailure: { Destination: FAILURES } },
      });
      expect(mapping.MaximumBatchingWindowInSeconds).toBe(seconds);
      expect(mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern))).toEqual([
        { eventName: events, dynamodb: { Keys: { pk: { S: partitions.map((prefix) => ({ prefix })) } } } },
        ...(name === 'publish' ? [ANY_CHANGE_OF_THE_AUDIT] : []),
      ]);
    },
  );
});

describe('sweep', () => {
  const schedules = propertiesOf('AWS::Events::Rule').filter(({ ScheduleExpression }) => ScheduleExpression);
  const scheduleOf = (name: FunctionName) => schedules.filter(({ Targets }) => invokes(Targets[0].Arn, name));

  it.each<[FunctionName, string]>([
    ['publish', 'rate(1 minute)'],
    ['worker', 'rate(1 minute)'],
    ['verify', 'rate(1 hour)'],
    ['collect-garbage', 'rate(1 hour)'],
    ['export', 'rate(15 minutes)'],
  ])('of %s: %s, which is not tried again: the next one comes', (name, expression) => {
    expect(scheduleOf(name)).toMatchObject([{ ScheduleExpression: expression, State: 'ENABLED' }]);
    const configs = propertiesOf('AWS::Lambda::EventInvokeConfig');
    const config = configs.find(({ FunctionName }) => FunctionName.Ref.startsWith(idOf(name)));
    expect(invokes(config.Qualifier, name)).toBe(BY_CANARY.includes(name));
    expect(config).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
    expect(config).not.toHaveProperty('DestinationConfig');
  });
});

describe('an upload', () => {
  it('has a function of its own; its event is tried again, and kept when it was given up', () => {
    const rule = propertiesOf('AWS::Events::Rule').find(({ EventPattern }) => EventPattern);
    expect(rule.EventPattern).toEqual({
      source: ['aws.s3'],
      'detail-type': ['Object Created'],
      detail: {
        bucket: { name: [{ 'Fn::ImportValue': expect.stringMatching(/Uploads/) }] },
        object: { key: [{ prefix: 'uploads/' }] },
      },
    });
    const Arn = { 'Fn::GetAtt': [expect.stringMatching(/^uploadarrivedFunction/), 'Arn'] };
    expect(rule.Targets).toMatchObject([{ Arn, DeadLetterConfig: { Arn: FAILURES } }]);
    const configs = propertiesOf('AWS::Lambda::EventInvokeConfig');
    expect(configs.find(({ FunctionName }) => FunctionName.Ref.startsWith(idOf('upload-arrived')))).toMatchObject({
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: FAILURES } },
    });
  });
});

describe('verify', () => {
  it.each([
    [1, api],
    [6, synthesised(WITH_OPTIONS)('api')],
  ])('knows the period of its schedule: every %i hours', (verifyEveryHours, built) => {
    expect(functionOf(built, 'verify').Environment.Variables.TIDEMARK_VERIFY_EVERY_HOURS).toBe(`${verifyEveryHours}`);
    const expressions = Object.values(built.findResources('AWS::Events::Rule')).map(
      ({ Properties }) => Properties.ScheduleExpression,
    );
    expect(expressions).toContain(verifyEveryHours === 1 ? 'rate(1 hour)' : `rate(${verifyEveryHours} hours)`);
  });

  it('has a whole processor: the next page of the list waits until one is checked', () => {
    expect(functionOf(api, 'verify').MemorySize).toBeGreaterThanOrEqual(1_769);
  });
});

describe('a new version of what writers and readers wait for', () => {
  const groups = (built: Template) =>
    Object.values(built.findResources('AWS::CodeDeploy::DeploymentGroup')).map(({ Properties }) => Properties);

  it('takes a tenth of the calls for five minutes, and is taken back when it fails', () => {
    expect(groups(api)).toHaveLength(BY_CANARY.length);
    for (const group of groups(api)) {
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
        AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: expect.stringMatching(/CanaryErrors/) } }] },
      });
    }
    const aliases = Object.values(api.findResources('AWS::Lambda::Alias'));
    expect(aliases.map(({ UpdatePolicy }) => Object.keys(UpdatePolicy))).toEqual(
      BY_CANARY.map(() => ['CodeDeployLambdaAliasUpdate']),
    );
  });

  it('is judged by its own errors: a release that mends a failing version stays', () => {
    for (const { Dimensions } of propertiesOf('AWS::CloudWatch::Alarm')) {
      const names = Dimensions.map(({ Name }: Properties) => Name);
      expect(names).toEqual(['ExecutedVersion', 'FunctionName', 'Resource']);
    }
  });

  it('takes all calls at once where that is configured', () => {
    const [group] = groups(synthesised(WITH_OPTIONS)('api'));
    expect(group.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
  });
});

describe('publisher', () => {
  it('publisher: ≥ 1 GB and a bounded timeout', () => {
    const { MemorySize, Timeout } = functionOf(api, 'publish');
    expect(MemorySize).toBeGreaterThanOrEqual(1_024);
    expect(Timeout).toBeLessThanOrEqual(900);
  });

  it('publisher: reserved concurrency 1 behind a flag', () => {
    expect(functionOf(api, 'publish')).not.toHaveProperty('ReservedConcurrentExecutions');
    const flagged = synthesised(WITH_OPTIONS)('api');
    expect(functionOf(flagged, 'publish').ReservedConcurrentExecutions).toBe(1);
    for (const name of FUNCTION_NAMES.filter((other) => other !== 'publish')) {
      expect(functionOf(flagged, name)).not.toHaveProperty('ReservedConcurrentExecutions');
    }
  });
});

describe.each(FUNCTION_NAMES)('the function %s', (name) => {
  it('runs on nodejs24.x, arm64, with a log of its own that does not last for ever', () => {
    const properties = functionOf(api, name);
    expect(properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'], Handler: 'index.handler' });
    const group = api.findResources('AWS::Logs::LogGroup')[properties.LoggingConfig.LogGroup.Ref];
    expect(group?.Properties).toEqual({ LogGroupName: `/aws/lambda/tidemark-${name}`, RetentionInDays: 30 });
  });
});

/** The required variables of the entry points, which refuse to start without them. */
const PUBLISHER: readonly VariableName[] = [
  'tableName',
  'publicBucket',
  'waitlistEmail',
  'distributionId',
  'readBaseUrl',
  'writeBaseUrl',
  'projections',
  'logOrigin',
  'logKeyArns',
];
const REQUIRED: { readonly [Name in FunctionName]: readonly VariableName[] } = {
  'write-api': [
    ...(['tableName', 'secretArn', 'originSecretArns', 'issuer', 'audience', 'uploadsBucket'] as const),
    ...(['scopePrefix', 'keyEnvironment'] as const),
  ],
  worker: ['tableName', 'uploadsBucket'],
  'upload-arrived': ['tableName', 'uploadsBucket'],
  sources: ['tableName', 'uploadsBucket'],
  publish: PUBLISHER,
  verify: ['readBaseUrl', 'verifyEveryHours'],
  'collect-garbage': ['tableName', 'publicBucket'],
  export: ['tableName', 'publicBucket', 'projections'],
  repair: ['tableName', 'publicBucket', 'projections'],
  'first-key': ['tableName', 'keyEnvironment'],
  copy: ['tableName', 'publicBucket', 'secondRegion', 'secondBucket'],
};

describe.each(Object.entries(REQUIRED))('the environment of %s', (name, required) => {
  const built = name === 'copy' ? synthesised(SECOND_REGION)('api') : api;
  const variables: Record<string, unknown> = functionOf(built, name as FunctionName).Environment.Variables;
  const ours = Object.keys(variables).filter((variable) => variable.startsWith('TIDEMARK_'));

  it('has what its entry point needs, and no more', () => {
    // Some values are known only to CloudFormation.
    const given = ours.map((variable) => [variable, JSON.stringify(variables[variable])]);
    const read = readLambdaEnvironment(Object.fromEntries(given), { required });
    expect(Object.keys(read).sort()).toEqual([...required].sort());
    expect(ours).toHaveLength(required.length);
  });
});

describe('the HTTP API', () => {
  it('sends everything to the write API, whose table of operations routes', () => {
    expect(onlyOf(api, 'AWS::ApiGatewayV2::Route').RouteKey).toBe('$default');
    expect(onlyOf(api, 'AWS::ApiGatewayV2::Integration')).toMatchObject({
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
      IntegrationUri: { Ref: expect.stringMatching(/^writeapiCanaryAlias/) },
    });
  });

  it('waits longer for the write API than the function runs, so that clients get its problem document', () => {
    const { Timeout } = functionOf(api, 'write-api');
    expect([Timeout, onlyOf(api, 'AWS::ApiGatewayV2::Integration').TimeoutInMillis]).toEqual([29, undefined]);
  });

  it('is throttled as configured', () => {
    expect(onlyOf(synthesised(WITH_OPTIONS)('api'), 'AWS::ApiGatewayV2::Stage').DefaultRouteSettings).toMatchObject({
      ThrottlingRateLimit: 7,
      ThrottlingBurstLimit: 9,
    });
  });

  it('logs no header, query, path or address', () => {
    const { Format } = onlyOf(api, 'AWS::ApiGatewayV2::Stage').AccessLogSettings;
    expect(Object.values(JSON.parse(Format)).sort()).toEqual([
      '$context.httpMethod',
      '$context.integrationErrorMessage',
      '$context.integrationLatency',
      '$context.requestId',
      '$context.requestTimeEpoch',
      '$context.responseLatency',
      '$context.responseLength',
      '$context.status',
    ]);
  });
});

describe('the queue of failures', () => {
  it('keeps them for two weeks, encrypted, over TLS', () => {
    expect(onlyOf(api, 'AWS::SQS::Queue')).toEqual({
      QueueName: 'tidemark-failures',
      MessageRetentionPeriod: 1_209_600,
      SqsManagedSseEnabled: true,
    });
    expect(JSON.stringify(onlyOf(api, 'AWS::SQS::QueuePolicy'))).toContain('"aws:SecureTransport":"false"');
  });
});

describe('the outputs', () => {
  it('are both base URLs and the next command', () => {
    expect(Object.keys(api.findOutputs('*'))).toEqual(
      expect.arrayContaining(['ReadBaseUrl', 'WriteBaseUrl', 'NextCommand']),
    );
    expect(api.findOutputs('NextCommand').NextCommand?.Value).toBe(
      'aws lambda invoke --region us-east-1 --function-name tidemark-first-key /dev/stderr >/dev/null',
    );
  });
});

describe('synthesising', () => {
  it('twice, from copies of the bundles made at another time, gives the same templates and asset hashes', () => {
    const [bundles, copy] = [standInBundles(), standInBundles()];
    for (const name of FUNCTION_NAMES) utimesSync(join(copy, name, 'index.mjs'), 1, 1);
    const [first, second] = [bundles, copy].map((folder) =>
      Template.fromStack(stackOf(appOf(MINIMAL, folder), 'api')).toJSON(),
    );
    expect(JSON.stringify(first)).toContain('S3Key');
    expect(second).toEqual(first);
  });
});
