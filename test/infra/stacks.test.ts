/** The stacks, their lifecycles, and their alarms; the documents agree with them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Annotations, Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { SCOPES, USER_SCOPES } from '../../contract/operations/scopes.ts';
import { FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';
import { appOf, deployed, ELSEWHERE, MINIMAL, onlyOf, type Properties, stackOf, WITH_OPTIONS } from './synthesised.ts';
import { synthesised } from './templates.ts';

const ROOT = join(import.meta.dirname, '../..');
const ISSUER = {
  url: 'https://id.example.com',
  audience: 'tidemark',
  jwksUri: 'https://id.example.com/keys',
  scopePrefix: 'api/',
};

const template = synthesised();
const ops = template('ops');

/** Synthesis adds children of its own. */
const stacksOf = (context: object) => deployed(context).node.children.filter(Stack.isStack);
const namesOf = (context: object) => stacksOf(context).map(({ node }) => node.id.replace('tidemark-', ''));

const alarmsOf = (built: typeof ops): Properties[] =>
  Object.values(built.findResources('AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);

describe('the stacks', () => {
  it('are by lifecycle', () => {
    expect(namesOf(MINIMAL)).toEqual(['data', 'edge', 'identity', 'api', 'ops']);
  });

  it('have no user pool where an issuer is given', () => {
    expect(namesOf({ ...MINIMAL, issuer: ISSUER })).toEqual(['data', 'edge', 'api', 'ops']);
  });

  it.each<object>([WITH_OPTIONS, ELSEWHERE])(
    'have the rate rule where AWS WAF takes it, where one is configured: %j',
    (context) => {
      const app = deployed(context);
      expect(stackOf(app, 'write-guard').region).toBe('us-east-1');
      app.synth();
      expect(stackOf(app, 'api').dependencies).toContain(stackOf(app, 'write-guard'));
    },
  );

  it("have the edge's alarms where its metrics are, when everything else is elsewhere", () => {
    expect(namesOf(ELSEWHERE)).toEqual(['data', 'edge', 'identity', 'write-guard', 'api', 'ops', 'edge-alarms']);
    const app = deployed(ELSEWHERE);
    expect(stackOf(app, 'edge-alarms').region).toBe('us-east-1');
    expect(stackOf(app, 'data').region).toBe('eu-west-1');
  });

  it('depend on what lives longer, and never the other way', () => {
    deployed().synth();
    const dependencies = stacksOf(MINIMAL).map((stack) => [
      stack.node.id,
      stack.dependencies.map(({ node }) => node.id).sort(),
    ]);
    expect(Object.fromEntries(dependencies)).toEqual({
      'tidemark-data': [],
      'tidemark-edge': ['tidemark-data'],
      'tidemark-identity': [],
      'tidemark-api': ['tidemark-data', 'tidemark-edge', 'tidemark-identity'],
      'tidemark-ops': ['tidemark-api', 'tidemark-data', 'tidemark-edge'],
    });
  });

  it('are protected from being deleted where something would be lost', () => {
    const app = deployed();
    const isProtected = (name: 'data' | 'identity' | 'edge' | 'api') => stackOf(app, name).terminationProtection;
    expect([isProtected('data'), isProtected('identity')]).toEqual([true, true]);
    expect([isProtected('edge'), isProtected('api')]).not.toContain(true);
  });

  it.each([
    [MINIMAL, 1],
    [WITH_OPTIONS, 0],
  ])(
    'are made for key requests to an address, with a warning if it is of a reserved domain: %#',
    (context, warnings) => {
      const { waitlistEmail } = context;
      const named = Match.stringLikeRegexp(`${waitlistEmail}.*tidemark:waitlistEmail`);
      const found = stacksOf(context).flatMap((stack) => Annotations.fromStack(stack).findWarning('*', named));
      expect(found).toHaveLength(warnings);
    },
  );

  it('take the name of the deployment, so that an account holds several', () => {
    const app = appOf({ ...MINIMAL, name: 'staging' });
    expect(app.node.children.map(({ node }) => node.id)).toContain('staging-api');
  });

  it('of an account differ by region in every name that the account has once', () => {
    const namesIn = (context: object) => {
      const [edge, api, own] = (['edge', 'api', 'ops'] as const).map(synthesised(context)) as [
        Template,
        Template,
        Template,
      ];
      return [
        onlyOf(edge, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig.Name,
        onlyOf(edge, 'AWS::CloudFront::OriginAccessControl').OriginAccessControlConfig.Name,
        onlyOf(edge, 'AWS::CloudFront::CachePolicy').CachePolicyConfig.Name,
        ...Object.values(edge.findResources('AWS::CloudFront::Function')).map(({ Properties }) => Properties.Name),
        onlyOf(api, 'AWS::CloudFront::ResponseHeadersPolicy').ResponseHeadersPolicyConfig.Name,
        onlyOf(api, 'AWS::CloudFront::Function').Name,
        onlyOf(own, 'AWS::Budgets::Budget').Budget.BudgetName,
        onlyOf(own, 'AWS::CloudWatch::Dashboard').DashboardName,
      ];
    };
    const there = namesIn(ELSEWHERE);
    for (const [index, name] of namesIn(MINIMAL).entries()) {
      expect(name).toContain('us-east-1');
      expect(there[index]).toBe(name.replaceAll('us-east-1', 'eu-west-1'));
    }
  });

  it('let a function or the queue go in one deployment: alarms and dashboard know them by name', () => {
    const text = JSON.stringify(ops.toJSON());
    const imports = [...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name);
    // Ids that AWS chooses, of what no release removes; a table and keys stay exported when others take their place.
    const isKept = (name: string) =>
      /RefWriteEndpointDistribution|GetAttDistributionId|tidemark-data:\w+(RefLedger|GetAttLog1Key)/.test(name);
    expect(imports.length).toBeGreaterThan(0);
    expect(imports.filter((name) => !isKept(name))).toEqual([]);
    const api = template('api');
    const known = Object.values(api.findResources('AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.FunctionName,
    );
    const dimensions = [...text.matchAll(/"Name":"(FunctionName|QueueName)","Value":"([^"]+)"/g)];
    const atTheEdge = ['tidemark-us-east-1-router', 'tidemark-us-east-1-response'];
    const heard = new Set(dimensions.map(([, , value = '']) => value).filter((name) => !atTheEdge.includes(name)));
    expect([...heard].sort()).toEqual([...known, onlyOf(api, 'AWS::SQS::Queue').QueueName].sort());
  });

  it('make no custom resources and run no code but ours', () => {
    for (const name of ['data', 'edge', 'identity', 'api', 'ops'] as const) {
      const types = Object.values(template(name).toJSON().Resources as Record<string, Properties>).map(
        ({ Type }) => Type,
      );
      expect(types.filter((type) => /^Custom::|CustomResource/.test(type))).toEqual([]);
    }
    template('api').resourceCountIs('AWS::Lambda::Function', FUNCTION_NAMES.length);
  });
});

describe('identity', () => {
  const identity = template('identity');
  const client = onlyOf(identity, 'AWS::Cognito::UserPoolClient');

  it('has every scope of the contract on its resource server', () => {
    const { Identifier, Scopes } = onlyOf(identity, 'AWS::Cognito::UserPoolResourceServer');
    expect(Identifier).toBe('tidemark');
    const named = Scopes.map(({ ScopeName, ScopeDescription }: Properties) => [ScopeName, ScopeDescription]);
    expect(Object.fromEntries(named)).toEqual(SCOPES);
  });

  it('gives users the scopes of users, and no scope of an operator', () => {
    const parts = client.AllowedOAuthScopes.map((scope: Properties) =>
      typeof scope === 'string' ? scope : scope['Fn::Join'][1].at(-1),
    );
    expect(parts).toEqual(['openid', ...USER_SCOPES.map((scope) => `/${scope}`)]);
    const operators = ['claims:review', 'sources:verify', 'entitlements:admin', 'ingest:write', 'keys:admin'];
    expect(USER_SCOPES.filter((scope) => /:admin$|^(audit|publications|waitlist):/.test(scope))).toEqual([]);
    expect(USER_SCOPES.filter((scope) => operators.includes(scope))).toEqual([]);
  });

  it('has a public client: a code with PKCE, no secret, no password over the wire', () => {
    expect(client).toMatchObject({ GenerateSecret: false, AllowedOAuthFlows: ['code'] });
    expect(client.ExplicitAuthFlows.sort()).toEqual(['ALLOW_REFRESH_TOKEN_AUTH', 'ALLOW_USER_SRP_AUTH']);
  });

  it('allows no sign-up unless it is configured', () => {
    const isClosed = (context: object) =>
      onlyOf(synthesised(context)('identity'), 'AWS::Cognito::UserPool').AdminCreateUserConfig.AllowAdminCreateUserOnly;
    expect(isClosed(MINIMAL)).toBe(true);
    expect(isClosed(WITH_OPTIONS)).toBe(false);
  });

  it('gives the write API the configured issuer', () => {
    const api = synthesised({ ...MINIMAL, issuer: ISSUER })('api');
    const [writeApi] = Object.values(
      api.findResources('AWS::Lambda::Function', { Properties: { FunctionName: 'tidemark-write-api' } }),
    );
    expect(writeApi?.Properties.Environment.Variables).toMatchObject({
      TIDEMARK_ISSUER: 'https://id.example.com',
      TIDEMARK_AUDIENCE: 'tidemark',
      TIDEMARK_JWKS_URI: 'https://id.example.com/keys',
      TIDEMARK_SCOPE_PREFIX: 'api/',
    });
  });
});

describe('alarms', () => {
  const alarms = alarmsOf(ops);
  const named = alarms.map(({ AlarmName }) => AlarmName.replace('tidemark-', ''));
  const alarmOf = (name: string) => alarms.find(({ AlarmName }) => AlarmName === `tidemark-${name}`);

  it.each<[string, string, string, string]>([
    ['publisher lag', 'publisher-lag', 'Tidemark', 'PublishCompleted'],
    ['slow generations', 'publisher-slow', 'Tidemark', 'PublishDuration'],
    ['a publisher that never catches up', 'publisher-behind', 'Tidemark', 'PublishBehind'],
    ['a worker that never catches up', 'worker-behind', 'Tidemark', 'WorkWaited'],
    ['markets deferred too long', 'markets-deferred', 'Tidemark', 'MarketsDeferredTooLong'],
    ['changed audit records', 'audit-changed', 'Tidemark', 'AuditRecordsChanged'],
    ['stream age, for the publisher', 'publish-stream-age', 'AWS/Lambda', 'IteratorAge'],
    ['stream age, for the worker', 'worker-stream-age', 'AWS/Lambda', 'IteratorAge'],
    ['errors of the write API', 'write-api-errors', 'AWS/Lambda', 'Errors'],
    ['errors of the worker', 'worker-errors', 'AWS/Lambda', 'Errors'],
    ['errors of the runner of sources', 'sources-errors', 'AWS/Lambda', 'Errors'],
    ['uploads that are not queued', 'upload-arrived-errors', 'AWS/Lambda', 'Errors'],
    ['5xx of the CDN', 'read-5xx', 'AWS/CloudFront', '5xxErrorRate'],
    ['5xx of the write host', 'write-api-5xx', 'AWS/CloudFront', '5xxErrorRate'],
    ["the object store's 403s", 'read-403', 'AWS/CloudFront', '403ErrorRate'],
    ['a failed verify', 'verify-failed', 'AWS/Lambda', 'Errors'],
    ['the depth of the queue of failures', 'failures-queued', 'AWS/SQS', 'ApproximateNumberOfMessagesVisible'],
  ])('are on %s', (_what, name, Namespace, MetricName) => {
    expect(alarmOf(name)).toMatchObject({ Namespace, MetricName });
    // The test above has the values: names of functions that are there.
    if (Namespace === 'Tidemark') expect(alarmOf(name).Dimensions).toMatchObject([{ Name: 'FunctionName' }]);
  });

  it('are on the throttles of every function, but for a publisher that is to be turned away', () => {
    const functionsOf = (built: typeof ops) =>
      alarmsOf(built)
        .find(({ AlarmName }) => AlarmName === 'tidemark-throttles')
        .Metrics.flatMap(({ MetricStat }: Properties) => MetricStat?.Metric.Dimensions[0].Value ?? []);
    expect(functionsOf(ops)).toEqual(FUNCTION_NAMES.map((name) => `tidemark-${name}`));
    const reserved = functionsOf(synthesised(WITH_OPTIONS)('ops'));
    expect(reserved).toEqual(functionsOf(ops).filter((name: string) => name !== 'tidemark-publish'));
  });

  it('are on throttled requests of the ledger, and on every failure of the functions at the edge', () => {
    const metricsOf = (name: string) =>
      alarmOf(name).Metrics.flatMap(({ MetricStat }: Properties) => (MetricStat ? [MetricStat.Metric.MetricName] : []));
    expect(metricsOf('ledger-throttles')).toEqual(['ReadThrottleEvents', 'WriteThrottleEvents']);
    const failures = ['FunctionExecutionErrors', 'FunctionValidationErrors', 'FunctionThrottles'];
    expect(metricsOf('edge-function-errors')).toEqual([...failures, ...failures]);
  });

  it('have beside them a mail at once when a key of the log is disabled or is to be deleted', () => {
    const rule = onlyOf(ops, 'AWS::Events::Rule');
    expect(rule.EventPattern.detail).toEqual({
      eventName: ['DisableKey', 'ScheduleKeyDeletion'],
      resources: { ARN: [{ 'Fn::ImportValue': expect.stringContaining('Log1Key') }] },
    });
    expect(rule.Targets).toMatchObject([{ Arn: { Ref: expect.stringMatching(/^AlarmsTopic/) } }]);
  });

  const WHEN_SILENT = { TreatMissingData: 'breaching', ComparisonOperator: 'LessThanThreshold', Threshold: 1 };
  const WHEN_AT_LEAST = { ComparisonOperator: 'GreaterThanOrEqualToThreshold', Statistic: 'Average', Threshold: 5 };

  it.each<[string, string, object]>([
    [
      'publisher-lag',
      'after five minutes in which nothing was completed',
      { Statistic: 'Sum', Period: 60, EvaluationPeriods: 5 },
    ],
    ['publisher-lag', 'when nothing is heard any more', WHEN_SILENT],
    ['verify-stopped', 'when nothing is heard any more', WHEN_SILENT],
    ['write-api-errors', 'at the first', { Statistic: 'Sum', Threshold: 1, EvaluationPeriods: 1 }],
    ['read-403', 'above what bots are answered', { ...WHEN_AT_LEAST, Period: 60, EvaluationPeriods: 3 }],
    [
      'write-api-5xx',
      'by their rate over a quarter of an hour, because single ones happen; without requests there is no rate',
      { ...WHEN_AT_LEAST, Period: 300, EvaluationPeriods: 3, TreatMissingData: 'notBreaching' },
    ],
  ])('on %s go off %s', (name, _when, settings) => {
    expect(alarmOf(name)).toMatchObject(settings);
    expect(alarmOf(name)).not.toHaveProperty('DatapointsToAlarm');
  });

  it('on what runs for long look back for longer: an error has the time of the beginning, and comes at the end', () => {
    const timeouts = Object.values(template('api').findResources('AWS::Lambda::Function')).map(({ Properties }) => [
      Properties.FunctionName.replace('tidemark-', ''),
      Properties.Timeout,
    ]);
    const looked = timeouts.flatMap(([name, timeout]) => {
      const alarm = alarms.find(
        ({ MetricName, Dimensions }) => MetricName === 'Errors' && Dimensions[0].Value === `tidemark-${name}`,
      );
      return alarm === undefined ? [] : [[name, alarm.Period * alarm.EvaluationPeriods > 2 * timeout]];
    });
    expect(Object.fromEntries(looked)).toEqual({
      'write-api': true,
      worker: true,
      'upload-arrived': true,
      sources: true,
      verify: true,
      'collect-garbage': true,
      export: true,
    });
  });

  it('on slow generations use a period in which the longest invocation ends', () => {
    const [publish] = Object.values(
      template('api').findResources('AWS::Lambda::Function', { Properties: { FunctionName: 'tidemark-publish' } }),
    );
    const { Period, Statistic, Threshold } = alarmOf('publisher-slow');
    expect({ Statistic, Threshold }).toEqual({ Statistic: 'Maximum', Threshold: 60_000 });
    expect(Period).toBeGreaterThanOrEqual(2 * publish?.Properties.Timeout);
  });

  it.each([
    [1, MINIMAL],
    [6, WITH_OPTIONS],
  ])('on a verify that comes every %i hours wait until the first run was due', (verifyEveryHours, context) => {
    const built = alarmsOf(synthesised(context)('ops'));
    const { EvaluationPeriods, Metrics } = built.find(({ AlarmName }) => AlarmName === 'tidemark-verify-stopped');
    expect(EvaluationPeriods).toBe(verifyEveryHours + 2);
    const seconds = Metrics.flatMap(({ MetricStat }: Properties) => MetricStat?.Period ?? []);
    expect(seconds).toEqual([3_600, 3_600]);
    const { Expression } = Metrics.find(({ ReturnData }: Properties) => ReturnData !== false);
    const heard = (id: string) => Metrics.find(({ Id }: Properties) => Id === id).MetricStat.Metric;
    const [, published = '', runs = ''] = /^IF\(FILL\((\w+), 0\) > 0, FILL\((\w+), 0\), 1\)$/.exec(Expression) ?? [];
    expect(heard(published)).toMatchObject({ Namespace: 'Tidemark', MetricName: 'PublishCompleted' });
    expect(heard(runs)).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Invocations' });
  });

  it('on 5xx tell the write host from the read host', () => {
    const [write, read] = ['write-api-5xx', 'read-5xx'].map((name) => alarmOf(name).Dimensions[0]);
    expect(write).toEqual({
      Name: 'DistributionId',
      Value: { 'Fn::ImportValue': expect.stringContaining('WriteEndpoint') },
    });
    expect(read).not.toEqual(write);
  });

  it('all tell the topic, and tell it when they are over', () => {
    for (const { AlarmActions, OKActions, ActionsEnabled } of alarms) {
      expect(ActionsEnabled).not.toBe(false);
      expect(AlarmActions).toEqual([{ Ref: expect.stringMatching(/^AlarmsTopic/) }]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  it('hear only metrics of their own region', () => {
    const elsewhere = synthesised(ELSEWHERE);
    const isOfEdge = (alarm: Properties) => JSON.stringify(alarm).includes('"Namespace":"AWS/CloudFront"');
    expect(alarmsOf(elsewhere('ops')).filter(isOfEdge)).toEqual([]);
    expect(alarmsOf(elsewhere('edge-alarms')).filter(isOfEdge)).toHaveLength(4);
    expect(alarmsOf(elsewhere('edge-alarms')).every(isOfEdge)).toBe(true);
  });

  it('have a metric to hear: additional metrics of the distribution are on', () => {
    expect(onlyOf(template('edge'), 'AWS::CloudFront::MonitoringSubscription').MonitoringSubscription).toEqual({
      RealtimeMetricsSubscriptionConfig: { RealtimeMetricsSubscriptionStatus: 'Enabled' },
    });
  });

  it('each have a section in docs/operations.md, and no section is without one', () => {
    const text = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
    const sections = [...text.matchAll(/^### (.+)$/gm)].flatMap(([, heading = '']) =>
      [...heading.matchAll(/`([a-z0-9-]+)`/g)].map(([, name]) => name),
    );
    // Of a deployment with a second region.
    expect(sections.sort()).toEqual([...named, 'copy-behind'].sort());
  });

  it('write to an address where one is configured', () => {
    ops.resourceCountIs('AWS::SNS::Subscription', 0);
    expect(onlyOf(synthesised(WITH_OPTIONS)('ops'), 'AWS::SNS::Subscription')).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
  });
});

describe('the budget', () => {
  it('is the configured amount a month, and warns before it is spent', () => {
    const built = onlyOf(synthesised(WITH_OPTIONS)('ops'), 'AWS::Budgets::Budget');
    expect(built.Budget).toMatchObject({
      BudgetType: 'COST',
      TimeUnit: 'MONTHLY',
      BudgetLimit: { Amount: 123, Unit: 'USD' },
    });
    const warnings = built.NotificationsWithSubscribers.map(({ Notification }: Properties) => [
      Notification.NotificationType,
      Notification.Threshold,
    ]);
    expect(warnings).toEqual([
      ['ACTUAL', 80],
      ['FORECASTED', 100],
    ]);
  });

  it('may publish to the topic, for this account', () => {
    const { Statement } = onlyOf(ops, 'AWS::SNS::TopicPolicy').PolicyDocument;
    expect(Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Principal: { Service: 'budgets.amazonaws.com' },
        Action: 'sns:Publish',
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
  });

  it('does not keep the alarms from publishing: CloudWatch may, too', () => {
    const { Statement } = onlyOf(ops, 'AWS::SNS::TopicPolicy').PolicyDocument;
    const services = Statement.filter(({ Effect }: Properties) => Effect === 'Allow').map(
      ({ Principal }: Properties) => Principal.Service,
    );
    expect(services).toContain('cloudwatch.amazonaws.com');
  });
});

describe('the dashboard', () => {
  it('shows reads, writes, publishing and what went wrong', () => {
    const body = JSON.stringify(onlyOf(ops, 'AWS::CloudWatch::Dashboard').DashboardBody);
    for (const metric of ['Requests', 'CacheHitRate', '403ErrorRate', 'Invocations', 'IteratorAge', 'Errors']) {
      expect(body).toContain(metric);
    }
  });
});
