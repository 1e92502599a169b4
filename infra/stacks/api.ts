/**
 * All functions: the write API, the worker, the publisher, and the functions that check and maintain published objects.
 */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { projectionsText } from '../../contract/files/projections.ts';
import { ENVIRONMENT, UPLOADS_PREFIX } from '../../storage/aws/names.ts';
import { WORK_QUEUE } from '../../storage/records/batches.ts';
import { APPEND_ONLY } from '../../storage/records/keys.ts';
import { AWAITING_GENERATION, FRESH_MARKS } from '../../storage/records/publication.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { addSchedule, StreamTrigger, type StreamTriggerProps, streamStatements } from '../constructs/stream-trigger.ts';
import { WriteEndpoint } from '../constructs/write-endpoint.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { failuresName, functionName, secondBucketName } from '../deployment/names.ts';
import { patternsOf } from '../deployment/partitions.ts';
import type { FunctionName } from '../deployment/permissions.ts';
import { allow } from '../deployment/policies.ts';
import { type DataStack, RANDOM_SECRET } from './data.ts';
import type { EdgeStack } from './edge.ts';
import type { IssuerSettings } from './identity.ts';

export interface ApiStackProps extends StackProps {
  readonly configuration: Configuration;
  /** The folder with one subfolder for each function's bundle. */
  readonly bundles: string;
  readonly data: DataStack;
  readonly edge: EdgeStack;
  readonly issuer: IssuerSettings;
  /** The ARN of a web ACL for the write host. */
  readonly webAclArn?: string | undefined;
}

type Variables = { readonly [Name in keyof typeof ENVIRONMENT]?: string | undefined };

interface FunctionSettings {
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly variables: Variables;
  readonly statements?: readonly PolicyStatement[];
  readonly reservedConcurrency?: number | undefined;
}

/** With this memory, Lambda gives one virtual CPU. */
const ONE_CPU_MEGABYTES = 1_769;
/** Lambda's limit. */
const LONGEST_SECONDS = 900;
/** API Gateway times out after 30 seconds and answers with its own body, so the function must end earlier. */
const ANSWERED_WITHIN_SECONDS = 29;

/** Short, because the sender of a batch waits for its report. */
const WORKER_COALESCE = Duration.seconds(1);
/**
 * Changes within this time become one generation, and an object that changes several times is put once. Under steady
 * ingest, this value determines the cost of publishing (docs/deploy.md). Readers' caches may be older by up to three times
 * as much.
 */
const PUBLISHER_COALESCE = Duration.seconds(5);

const FAILURES_KEPT_FOR = Duration.days(14);

export class ApiStack extends Stack {
  /** Holds batches of stream records and events of uploads after the last retry. */
  readonly failures: Queue;
  readonly endpoint: WriteEndpoint;

  readonly #props: ApiStackProps;
  /** The write host sends the first one. The function accepts all of them. */
  readonly #originSecrets: readonly [Secret, ...Secret[]];

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id, props);
    this.#props = props;
    this.failures = new Queue(this, 'Failures', {
      queueName: failuresName(props.configuration),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: FAILURES_KEPT_FOR,
    });
    this.#originSecrets = this.#addOriginSecrets();
    this.endpoint = this.#addWriteApi();
    this.#addWorker();
    this.#addUploadArrived();
    this.#addPublisher();
    this.#addOthers();
    this.#addOutputs();
  }

  /**
   * One secret for each number: the configured one, and the previous one. With a higher number, one deployment creates the
   * new secret, then the function that accepts it, then the distribution that sends it. So no request is refused.
   */
  #addOriginSecrets(): readonly [Secret, ...Secret[]] {
    const { originSecretNumber: number } = this.#props.configuration;
    const add = (which: number) =>
      new Secret(this, `OriginSecret${which}`, {
        description: 'With this the write host proves to the write API that a request came through it.',
        generateSecretString: RANDOM_SECRET,
      });
    return number === 1 ? [add(number)] : [add(number), add(number - 1)];
  }

  #addWriteApi(): WriteEndpoint {
    const { configuration, data, edge, issuer, webAclArn } = this.#props;
    const handler = this.#addFunction('write-api', {
      memoryMegabytes: 1_024,
      timeoutSeconds: ANSWERED_WITHIN_SECONDS,
      variables: {
        tableName: data.table.tableName,
        uploadsBucket: data.uploadsBucket.bucketName,
        secretArn: data.secret.secretArn,
        originSecretArns: this.#originSecrets.map(({ secretArn }) => secretArn).join(','),
        issuer: issuer.issuer,
        audience: issuer.audience,
        jwksUri: issuer.jwksUri,
        scopePrefix: issuer.scopePrefix,
        keyEnvironment: configuration.keyEnvironment,
      },
    });
    return new WriteEndpoint(this, 'WriteEndpoint', {
      configuration,
      handler: handler.function,
      originSecret: this.#originSecrets[0],
      readBaseUrl: edge.readBaseUrl,
      webAclArn,
    });
  }

  #addWorker(): void {
    const settings = {
      memoryMegabytes: ONE_CPU_MEGABYTES,
      timeoutSeconds: LONGEST_SECONDS,
      variables: this.#uploadVariables(),
    };
    // A lease modifies its work item, so only an insert counts.
    const trigger = { partitions: patternsOf([WORK_QUEUE]), events: ['INSERT'], coalesce: WORKER_COALESCE } as const;
    this.#addTriggered('worker', 'WorkerDoorbell', settings, trigger);
  }

  /**
   * The only trigger for an upload, because no schedule searches for uploaded files. It is retried, and after the last
   * retry the event is kept.
   */
  #addUploadArrived(): void {
    const { data } = this.#props;
    const { function: arrived } = this.#addFunction('upload-arrived', {
      memoryMegabytes: 512,
      timeoutSeconds: 60,
      variables: this.#uploadVariables(),
      statements: [allow(['sqs:SendMessage'], [this.failures.queueArn])],
    });
    arrived.configureAsyncInvoke({ retryAttempts: 2, onFailure: new SqsDestination(this.failures) });
    const upload = new Rule(this, 'Uploaded', {
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: {
          bucket: { name: [data.uploadsBucket.bucketName] },
          object: { key: [{ prefix: UPLOADS_PREFIX }] },
        },
      },
    });
    upload.addTarget(new LambdaTarget(arrived, { deadLetterQueue: this.failures }));
  }

  #addPublisher(): void {
    const { configuration, data, edge } = this.#props;
    const settings = {
      memoryMegabytes: ONE_CPU_MEGABYTES,
      variables: {
        ...this.#publishingVariables(),
        logOrigin: configuration.logOrigin ?? `tidemark.local/${configuration.name}`,
        logKeyArns: data.logKeys.map(({ keyArn }) => keyArn).join(','),
        waitlistEmail: configuration.waitlistEmail,
        operatorName: configuration.operatorName,
        operatorContact: configuration.operatorContact,
        dataLicence: configuration.dataLicence,
        distributionId: edge.distributionId,
        readBaseUrl: edge.readBaseUrl,
        writeBaseUrl: this.endpoint.writeBaseUrl,
      },
      timeoutSeconds: 300,
      // This is not a lock, because the swap of HEAD decides. It only avoids work that would be discarded.
      reservedConcurrency: configuration.reservePublisherConcurrency ? 1 : undefined,
    };
    this.#addTriggered('publish', 'PublisherDoorbell', settings, {
      partitions: patternsOf([FRESH_MARKS, AWAITING_GENERATION]),
      // A modified mark counts too: a market may change again before its mark is cleared.
      events: ['INSERT', 'MODIFY'],
      // The publisher can neither read nor write audit records, so a change of one does not change its report.
      unchanging: APPEND_ONLY,
      coalesce: PUBLISHER_COALESCE,
    });
  }

  /** The functions that a schedule invokes, and two that only an administrator invokes. */
  #addOthers(): void {
    const { configuration, data, edge } = this.#props;
    const { secondRegion, keyEnvironment, verifyEveryHours } = configuration;
    const copying = { ...this.#storageVariables(), secondBucket: this.#secondBucket };
    const verifying = { readBaseUrl: edge.readBaseUrl, verifyEveryHours: String(verifyEveryHours) };
    const others: readonly (readonly [FunctionName, number, number, Variables, string?, Duration?])[] = [
      // A whole answer of 64 MiB is in memory, and unpacked. A requested run begins within a minute, too.
      ['sources', ONE_CPU_MEGABYTES, LONGEST_SECONDS, this.#uploadVariables(), 'Sources', Duration.minutes(1)],
      // Checking a page needs CPU time, and the next page waits for it.
      ['verify', ONE_CPU_MEGABYTES, LONGEST_SECONDS, verifying, 'Verify', Duration.hours(verifyEveryHours)],
      ['collect-garbage', 1_024, LONGEST_SECONDS, copying, 'CollectGarbage', Duration.hours(1)],
      // The rows of a part are in memory. The next invocation continues an export that runs out of time.
      ['export', ONE_CPU_MEGABYTES, LONGEST_SECONDS, this.#publishingVariables(), 'Export', Duration.minutes(15)],
      // The timeout is also the lease: if a round dies, the next one waits this long.
      ['copy', ONE_CPU_MEGABYTES, 300, copying, 'Copy', Duration.minutes(1)],
      ['first-key', 256, 30, { tableName: data.table.tableName, keyEnvironment }],
      ['repair', ONE_CPU_MEGABYTES, LONGEST_SECONDS, this.#publishingVariables()],
    ];
    for (const [name, memoryMegabytes, timeoutSeconds, variables, schedule, every] of others) {
      if (name === 'copy' && secondRegion === undefined) continue;
      const added = this.#addFunction(name, { memoryMegabytes, timeoutSeconds, variables });
      if (every !== undefined) addSchedule(this, `${schedule}Schedule`, added, every);
    }
  }

  get #secondBucket(): string | undefined {
    const { configuration } = this.#props;
    const { secondRegion } = configuration;
    return secondRegion === undefined ? undefined : secondBucketName(configuration, secondRegion);
  }

  #storageVariables(): Variables {
    const { table, publicBucket } = this.#props.data;
    const { secondRegion } = this.#props.configuration;
    return { tableName: table.tableName, publicBucket: publicBucket.bucketName, secondRegion };
  }

  #publishingVariables(): Variables {
    const projections = projectionsText(new Set(this.#props.configuration.projections));
    return { ...this.#storageVariables(), projections };
  }

  #uploadVariables(): Variables {
    const { table, uploadsBucket } = this.#props.data;
    return { tableName: table.tableName, uploadsBucket: uploadsBucket.bucketName };
  }

  #addFunction(name: FunctionName, { variables, ...settings }: FunctionSettings): ServiceFunction {
    const { configuration, bundles, data, edge } = this.#props;
    const environment: Record<string, string> = {};
    for (const [key, value] of Object.entries(variables)) {
      // An empty variable would count as missing.
      if (value) environment[ENVIRONMENT[key as keyof Variables]] = value;
    }
    return new ServiceFunction(this, name, {
      ...settings,
      name,
      configuration,
      bundles,
      environment,
      targets: {
        table: data.table.tableArn,
        publicBucket: data.publicBucket.bucketArn,
        secondBucket: this.#secondBucket && `arn:${this.partition}:s3:::${this.#secondBucket}`,
        uploadsBucket: data.uploadsBucket.bucketArn,
        secrets: [data.secret, ...this.#originSecrets].map(({ secretArn }) => secretArn),
        distribution: edge.distributionArn,
        logKeys: data.logKeys.map(({ keyArn }) => keyArn),
      },
    });
  }

  /** @param id must not change: with a new id, Lambda would refuse a second event source mapping for the same stream */
  #addTriggered(
    name: FunctionName,
    id: string,
    settings: FunctionSettings,
    trigger: Pick<StreamTriggerProps, 'partitions' | 'events' | 'unchanging' | 'coalesce'>,
  ): void {
    const { failures } = this;
    const { tableStreamArn } = this.#props.data.table;
    const statements = streamStatements(tableStreamArn, failures.queueArn);
    const invoked = this.#addFunction(name, { ...settings, statements });
    new StreamTrigger(this, id, { ...trigger, invoked, tableStreamArn, failures });
  }

  #addOutputs(): void {
    const { configuration, edge } = this.#props;
    const output = (id: string, description: string, value: string) => new CfnOutput(this, id, { description, value });
    output('ReadBaseUrl', 'The base URL for readers.', edge.readBaseUrl);
    output('WriteBaseUrl', 'The base URL for writers.', this.endpoint.writeBaseUrl);
    output(
      'NextCommand',
      'Makes the first operator key and shows it once.',
      // The command wraps the function's answer in its own report. So the answer goes to stderr, and the report is
      // discarded.
      `aws lambda invoke --region ${this.region} --function-name ${functionName(configuration, 'first-key')} /dev/stderr >/dev/null`,
    );
  }
}
