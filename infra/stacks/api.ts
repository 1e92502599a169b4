/** Everything that runs our code: the write API, the worker, the publisher, and what looks after what is published. */
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { ENVIRONMENT, UPLOADS_PREFIX } from '../../contract/aws.ts';
import type { Configuration } from '../configuration.ts';
import { addSchedule, Doorbell, doorbellStatements, type RingingEvent } from '../constructs/doorbell.ts';
import { ServiceFunction } from '../constructs/service-function.ts';
import { WriteEndpoint } from '../constructs/write-endpoint.ts';
import { failuresName, functionName } from '../names.ts';
import { PARTITIONS } from '../partitions.ts';
import type { FunctionName } from '../permissions.ts';
import { allow } from '../policies.ts';
import type { DataStack } from './data.ts';
import type { EdgeStack } from './edge.ts';
import type { IssuerSettings } from './identity.ts';

export interface ApiStackProps extends StackProps {
  readonly configuration: Configuration;
  /** The folder with a folder for each function's bundle. */
  readonly bundles: string;
  readonly data: DataStack;
  readonly edge: EdgeStack;
  readonly issuer: IssuerSettings;
}

type Variables = { readonly [Name in keyof typeof ENVIRONMENT]?: string | undefined };

interface FunctionSettings {
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
  readonly variables: Variables;
  readonly statements?: readonly PolicyStatement[];
  readonly reservedConcurrency?: number | undefined;
}

/** One virtual CPU, as Lambda counts. */
const ONE_CPU_MEGABYTES = 1_769;
/** The longest that Lambda lets a function run. */
const LONGEST_SECONDS = 900;
/** API Gateway gives up after 30, and answers with a body of its own: whatever waits for storage has to end before. */
const ANSWERED_WITHIN_SECONDS = 29;

/** Who sends a batch waits for it. */
const WORKER_COALESCE = Duration.seconds(1);
/**
 * What changed within this time is one generation, and what changed several times in it is put once: under steady ingest
 * this decides what publishing costs (docs/deploy.md). Readers' caches are behind by up to three times as much.
 */
const PUBLISHER_COALESCE = Duration.seconds(5);

/** The next sweep comes soon enough: nothing is tried again, and no queue of sweeps grows while there is no room. */
const SWEPT = { retryAttempts: 0, maxEventAge: Duration.minutes(1) };

const FAILURES_KEPT_FOR = Duration.days(14);

export class ApiStack extends Stack {
  /** What was given up: batches of stream records, events of uploads. */
  readonly failures: Queue;
  readonly endpoint: WriteEndpoint;

  readonly #props: ApiStackProps;
  readonly #functions = new Map<FunctionName, ServiceFunction>();

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id, props);
    this.#props = props;
    this.failures = new Queue(this, 'Failures', {
      queueName: failuresName(props.configuration),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: FAILURES_KEPT_FOR,
    });
    this.endpoint = this.#addWriteApi();
    this.#addFirstKey();
    this.#addWorker();
    this.#addUploadArrived();
    this.#addPublisher();
    this.#addCaretakers();
    this.#addRepair();
    this.#addOutputs();
  }

  /** Every function of the table is in this stack. */
  functionOf(name: FunctionName): ServiceFunction {
    return this.#functions.get(name) as ServiceFunction;
  }

  #addWriteApi(): WriteEndpoint {
    const { configuration, data, issuer } = this.#props;
    const handler = this.#addFunction('write-api', {
      memoryMegabytes: 1_024,
      timeoutSeconds: ANSWERED_WITHIN_SECONDS,
      variables: {
        tableName: data.table.tableName,
        uploadsBucket: data.uploadsBucket.bucketName,
        secretArn: data.secret.secretArn,
        issuer: issuer.issuer,
        audience: issuer.audience,
        jwksUri: issuer.jwksUri,
        scopePrefix: issuer.scopePrefix,
        keyEnvironment: configuration.keyEnvironment,
      },
    });
    return new WriteEndpoint(this, 'WriteEndpoint', { configuration, handler: handler.function });
  }

  #addFirstKey(): void {
    const { configuration, data } = this.#props;
    this.#addFunction('first-key', {
      memoryMegabytes: 256,
      timeoutSeconds: 30,
      variables: { tableName: data.table.tableName, keyEnvironment: configuration.keyEnvironment },
    });
  }

  #addWorker(): void {
    const { data } = this.#props;
    const worker = this.#addFunction('worker', {
      memoryMegabytes: ONE_CPU_MEGABYTES,
      timeoutSeconds: LONGEST_SECONDS,
      variables: { tableName: data.table.tableName, uploadsBucket: data.uploadsBucket.bucketName },
      statements: this.#doorbellStatements(),
    });
    // A lease is written over its item: only an item that is new rings.
    this.#addDoorbell('WorkerDoorbell', worker, [PARTITIONS.work], ['INSERT'], WORKER_COALESCE);
    worker.function.configureAsyncInvoke(SWEPT);
  }

  /** The only ring for an upload: tried again, and kept when it was given up. No sweep would find the file. */
  #addUploadArrived(): void {
    const { data } = this.#props;
    const { function: arrived } = this.#addFunction('upload-arrived', {
      memoryMegabytes: 512,
      timeoutSeconds: 60,
      variables: { tableName: data.table.tableName, uploadsBucket: data.uploadsBucket.bucketName },
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
    const { configuration } = this.#props;
    const publish = this.#addFunction('publish', {
      memoryMegabytes: ONE_CPU_MEGABYTES,
      variables: this.#publisherVariables(),
      timeoutSeconds: 300,
      statements: this.#doorbellStatements(),
      // No lock: the swap of HEAD is. It only saves work that would be thrown away.
      reservedConcurrency: configuration.reservePublisherConcurrency ? 1 : undefined,
    });
    // A mark that is set again is news too.
    const marks = [PARTITIONS.marks, PARTITIONS.awaitingGeneration];
    this.#addDoorbell('PublisherDoorbell', publish, marks, ['INSERT', 'MODIFY'], PUBLISHER_COALESCE);
    publish.function.configureAsyncInvoke(SWEPT);
  }

  #addCaretakers(): void {
    const { configuration, edge } = this.#props;
    const settings = { timeoutSeconds: LONGEST_SECONDS };
    const verify = this.#addFunction('verify', {
      ...settings,
      // Checking a page is work for a processor, and the next page waits for it.
      memoryMegabytes: ONE_CPU_MEGABYTES,
      variables: { readBaseUrl: edge.readBaseUrl, verifyEveryHours: String(configuration.verifyEveryHours) },
    });
    const collectGarbage = this.#addFunction('collect-garbage', {
      ...settings,
      memoryMegabytes: 1_024,
      variables: this.#storageVariables(),
    });
    for (const caretaker of [verify, collectGarbage]) caretaker.function.configureAsyncInvoke(SWEPT);
    addSchedule(this, 'VerifySchedule', verify, Duration.hours(configuration.verifyEveryHours));
    addSchedule(this, 'CollectGarbageSchedule', collectGarbage, Duration.hours(1));
  }

  /** Invoked by hand, after a restore. */
  #addRepair(): void {
    this.#addFunction('repair', {
      memoryMegabytes: ONE_CPU_MEGABYTES,
      timeoutSeconds: LONGEST_SECONDS,
      variables: this.#storageVariables(),
    });
  }

  #storageVariables(): Variables {
    const { table, publicBucket } = this.#props.data;
    return { tableName: table.tableName, publicBucket: publicBucket.bucketName };
  }

  #publisherVariables(): Variables {
    const { configuration, edge } = this.#props;
    return {
      ...this.#storageVariables(),
      waitlistEmail: configuration.waitlistEmail,
      distributionId: edge.distributionId,
      readBaseUrl: edge.readBaseUrl,
      writeBaseUrl: this.endpoint.writeBaseUrl,
    };
  }

  #addFunction(name: FunctionName, { variables, ...settings }: FunctionSettings): ServiceFunction {
    const { configuration, bundles, data, edge } = this.#props;
    const environment: Record<string, string> = {};
    for (const [key, value] of Object.entries(variables)) {
      // Empty means missing.
      if (value) environment[ENVIRONMENT[key as keyof Variables]] = value;
    }
    const added = new ServiceFunction(this, name, {
      ...settings,
      name,
      configuration,
      bundles,
      environment,
      targets: {
        table: data.table.tableArn,
        publicBucket: data.publicBucket.bucketArn,
        uploadsBucket: data.uploadsBucket.bucketArn,
        secret: data.secret.secretArn,
        distribution: edge.distributionArn,
      },
    });
    this.#functions.set(name, added);
    return added;
  }

  #doorbellStatements(): readonly PolicyStatement[] {
    return doorbellStatements(this.#props.data.table.tableStreamArn, this.failures.queueArn);
  }

  #addDoorbell(
    id: string,
    woken: ServiceFunction,
    partitions: readonly string[],
    events: readonly RingingEvent[],
    coalesce: Duration,
  ): void {
    const { tableStreamArn } = this.#props.data.table;
    new Doorbell(this, id, { woken, tableStreamArn, partitions, events, coalesce, failures: this.failures });
  }

  #addOutputs(): void {
    const { configuration, edge } = this.#props;
    const output = (id: string, description: string, value: string) => new CfnOutput(this, id, { description, value });
    output('ReadBaseUrl', 'Where readers read.', edge.readBaseUrl);
    output('WriteBaseUrl', 'Where writers write.', this.endpoint.writeBaseUrl);
    output(
      'NextCommand',
      'Makes the first operator key, once, and shows it once.',
      // The answer goes to where errors do, and the command's own report, which is put around it otherwise, nowhere.
      `aws lambda invoke --region ${this.region} --function-name ${functionName(configuration, 'first-key')} /dev/stderr >/dev/null`,
    );
  }
}
