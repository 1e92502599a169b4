/** A deployment with a second region: a bucket there, the copy, and reads that fall over. Without it, there is none of that. */
import { Stack } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { publish } from '../../publisher/publish.ts';
import { copyRound } from '../../publisher/second-region/copy-round.ts';
import { checkFormat, claimFormat } from '../../storage/ports/format.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { openMemoryObjects } from '../storage/memory-objects.ts';
import { roleOf } from './access.ts';
import { type AccessCall, allows, recordAccess, recordObjectAccess } from './recorded-access.ts';
import { deployed, MINIMAL, onlyOf, type Properties, resourceOf, SECOND_REGION, stackOf } from './synthesised.ts';
import { synthesised } from './templates.ts';

const template = synthesised(SECOND_REGION);
const distributionOf = (context: object) =>
  onlyOf(synthesised(context)('edge'), 'AWS::CloudFront::Distribution').DistributionConfig;
const distribution = distributionOf(SECOND_REGION);
const NAME = ['tidemark-public-eu-west-1-', { Ref: 'AWS::AccountId' }];
const BUCKET = { 'Fn::Join': ['', NAME] };

describe('the bucket of the second region', () => {
  const bucket = resourceOf(template('second-region'), 'AWS::S3::Bucket', 'PublicObjects');
  const policyOf = (built: ReturnType<typeof template>): Properties[] =>
    onlyOf(built, 'AWS::S3::BucketPolicy').PolicyDocument.Statement;

  it('is there, and nothing else', () => {
    const app = deployed(SECOND_REGION);
    expect(stackOf(app, 'second-region').region).toBe('eu-west-1');
    const types = Object.values(template('second-region').toJSON().Resources as Record<string, Properties>);
    expect(types.map(({ Type }) => Type).sort()).toEqual(['AWS::S3::Bucket', 'AWS::S3::BucketPolicy']);
  });

  it('has the settings of the first one, and a name that the other stacks know', () => {
    const { BucketName, Tags: _, ...settings } = bucket.Properties;
    const { Tags: __, ...first } = resourceOf(template('data'), 'AWS::S3::Bucket', 'PublicObjects').Properties;
    expect(settings).toEqual(first);
    expect(BucketName).toEqual(BUCKET);
    expect(bucket).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  it('has the policy of the first one, for the distributions of the account', () => {
    const withoutNames = (statements: Properties[]) =>
      statements.map(({ Sid, Effect, Principal, Action }) => ({ Sid, Effect, Principal, Action }));
    const second = policyOf(template('second-region'));
    expect(withoutNames(second)).toEqual(withoutNames(policyOf(template('edge'))));
    const reads = second.filter(({ Principal }) => Principal.Service !== undefined);
    expect(reads).toHaveLength(2);
    for (const { Condition } of reads) {
      expect(JSON.stringify(Condition.ArnLike['AWS:SourceArn'])).toMatch(/AWS::AccountId"\},":distribution\/\*"/);
    }
  });

  it('is made before the distribution asks for it', () => {
    const app = deployed(SECOND_REGION);
    expect(stackOf(app, 'edge').dependencies).toContain(stackOf(app, 'second-region'));
    expect(stackOf(app, 'second-region').terminationProtection).toBe(true);
  });
});

describe('the distribution', () => {
  const [first, large, second, secondLarge] = distribution.Origins;

  it('has the same two origins in both regions, which differ in their bucket alone', () => {
    expect(distribution.Origins).toHaveLength(4);
    for (const [one, other] of [
      [first, second],
      [large, secondLarge],
    ]) {
      expect(other).toEqual({ ...one, Id: `second-${one.Id}`, DomainName: other.DomainName });
      expect(other.DomainName).toEqual({
        'Fn::Join': ['', [...NAME, '.s3.eu-west-1.amazonaws.com']],
      });
    }
  });

  it('falls over on failures and timeouts, not on 403 and 404', () => {
    const members = (id: string) => ({ Quantity: 2, Items: [{ OriginId: id }, { OriginId: `second-${id}` }] });
    const FailoverCriteria = { StatusCodes: { Quantity: 4, Items: [500, 502, 503, 504] } };
    expect(distribution.OriginGroups).toEqual({
      Quantity: 2,
      Items: ['public-objects', 'large-files'].map((id) => ({
        Id: `${id}-of-both`,
        FailoverCriteria,
        Members: members(id),
      })),
    });
    // Before it falls over, a reader waits for this.
    expect(first).toMatchObject({ ConnectionAttempts: 1, ConnectionTimeout: 2 });
    expect(first.S3OriginConfig.OriginReadTimeout).toBe(3);
  });

  it('sends every request to both, and differs in nothing else from one without a second region', () => {
    const { Origins: _, OriginGroups: __, ...rest } = distribution;
    const { Origins: ___, ...plain } = distributionOf(MINIMAL);
    const text = JSON.stringify(rest);
    expect(text).not.toMatch(/"TargetOriginId":"[\w-]+(?<!-of-both)"/);
    expect(JSON.parse(text.replaceAll('-of-both"', '"'))).toEqual(JSON.parse(JSON.stringify(plain)));
  });
});

describe('the copy', () => {
  it('runs every minute, in the first region', () => {
    const rule = resourceOf(template('api'), 'AWS::Events::Rule', 'CopySchedule').Properties;
    expect(rule.ScheduleExpression).toBe('rate(1 minute)');
    const { Timeout, Environment } = resourceOf(template('api'), 'AWS::Lambda::Function', 'copyFunction').Properties;
    expect(Timeout).toBe(300);
    expect(Environment.Variables).toMatchObject({
      TIDEMARK_SECOND_BUCKET: BUCKET,
      TIDEMARK_SECOND_REGION: 'eu-west-1',
    });
  });

  it.each(['publish', 'collectgarbage'])('finds the bundles that %s keeps', (id) => {
    const { Environment } = resourceOf(template('api'), 'AWS::Lambda::Function', `${id}Function`).Properties;
    expect(Environment.Variables.TIDEMARK_SECOND_REGION).toBe('eu-west-1');
  });

  it('may do all that it does, and changes nothing in the first region', async () => {
    const role = roleOf('copy');
    const world = createWorld();
    const dependencies = { ...world.dependencies, keepsBundles: true };
    const second = openMemoryObjects();
    await claimFormat(dependencies);
    const asked: AccessCall[] = [];
    const there: AccessCall[] = [];
    const ledger = recordAccess(world.ledger, asked);
    const copy = () =>
      copyRound(
        {
          ledger,
          first: recordObjectAccess(world.objects, asked),
          second: recordObjectAccess(second, there),
          nowMs: dependencies.nowMs,
          concurrency: { objects: 4 },
          hasTime: () => true,
        },
        1_000,
      );
    for (const slug of ['a', 'b', 'c', 'd']) {
      await world.ingest([market(slug), price(slug, 0, 1)]);
      await publish(dependencies);
      await checkFormat(ledger);
      await copy();
    }
    const ofSecond = there.map((call) => ({
      ...call,
      ...('resource' in call && {
        resource: call.resource?.replace('<PublicObjects>', SECOND_ARN),
      }),
    })) as AccessCall[];
    expect([...asked, ...ofSecond].filter((call) => !allows(role, call))).toEqual([]);
    const writes = role.filter(({ Action }) => Action.some((action) => /Put(Object|Item)|Delete/.test(action)));
    expect(writes.flatMap(({ Resource }) => Resource).filter((arn) => !arn.startsWith(SECOND_ARN))).toEqual([]);
  });

  it('raises an alarm when it is behind, or has stopped', () => {
    const alarm = resourceOf(template('ops'), 'AWS::CloudWatch::Alarm', 'Alarmscopybehind').Properties;
    expect(alarm).toMatchObject({
      MetricName: 'SecondRegionBehind',
      Dimensions: [{ Name: 'FunctionName', Value: 'tidemark-copy' }],
      TreatMissingData: 'breaching',
      Threshold: 900_000,
    });
    expect(JSON.stringify(template('ops').findResources('AWS::CloudWatch::Dashboard'))).toContain('SecondRegionBehind');
  });
});

const SECOND_ARN = 'arn:<AWS::Partition>:s3:::tidemark-public-eu-west-1-<AWS::AccountId>';

it('without the setting there is no trace of it', () => {
  const app = deployed();
  const names = app.node.children.filter(Stack.isStack).map(({ node }) => node.id);
  expect(names).not.toContain('tidemark-second-region');
  for (const name of ['data', 'edge', 'api', 'ops'] as const) {
    expect(JSON.stringify(synthesised(MINIMAL)(name).toJSON())).not.toMatch(
      /second-|SecondRegion|SECOND_|OriginGroup|tidemark-copy|CopySchedule/,
    );
  }
});
