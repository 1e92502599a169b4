/** The stack that must outlive all others: the ledger, the uploads, the secret, and the public objects. */
import { Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { AttributeType, BillingMode, StreamViewType, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import { type IKey, Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Bucket, BucketEncryption, type CfnBucket, type LifecycleRule, StorageClass } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import {
  ENDED_UPLOAD_TAG,
  TABLE_PARTITION_KEY,
  TABLE_SORT_KEY,
  TABLE_TTL_ATTRIBUTE,
  UPLOADS_PREFIX,
} from '../../storage/aws/names.ts';
import { addPublicBucket, PRIVATE_BUCKET } from '../constructs/public-bucket.ts';
import { TableBackups } from '../constructs/table-backups.ts';
import { appendOnlyPolicy } from '../deployment/audit-policy.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { accountWideName } from '../deployment/names.ts';
import { denyAll } from '../deployment/policies.ts';

/** DynamoDB's limit, in days. */
const RECOVERY_DAYS = 35;
const UPLOADS_COLD_AFTER_DAYS = 90;

/** 64 characters, each one of 16: 256 bits. */
export const RANDOM_SECRET = {
  passwordLength: 64,
  excludeUppercase: true,
  excludePunctuation: true,
  excludeCharacters: 'ghijklmnopqrstuvwxyz',
  requireEachIncludedType: false,
} as const;

/** The ledger's table: the stack's own table, or a table that was restored from it. */
export interface LedgerTable {
  readonly tableName: string;
  readonly tableArn: string;
  readonly tableStreamArn: string;
}

export interface DataStackProps extends StackProps {
  readonly configuration: Configuration;
}

/** All resources are retained when the stack is deleted. */
export class DataStack extends Stack {
  readonly table: LedgerTable;
  /** Its policy is in the edge stack, because the policy names the distribution. */
  readonly publicBucket: Bucket;
  readonly uploadsBucket: Bucket;
  readonly secret: Secret;
  /** The keys that sign the log, newest first. */
  readonly logKeys: readonly Pick<IKey, 'keyArn'>[];

  constructor(scope: Construct, id: string, { configuration, ...props }: DataStackProps) {
    super(scope, id, props);
    const table = new Table(this, 'Ledger', {
      partitionKey: { name: TABLE_PARTITION_KEY, type: AttributeType.STRING },
      sortKey: { name: TABLE_SORT_KEY, type: AttributeType.STRING },
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: RECOVERY_DAYS },
      deletionProtection: true,
      // The functions need only keys. Replicas in other regions need images, and a table keeps the stream that it has.
      stream: StreamViewType.NEW_AND_OLD_IMAGES,
      timeToLiveAttribute: TABLE_TTL_ATTRIBUTE,
      encryption: TableEncryption.AWS_MANAGED,
      removalPolicy: RemovalPolicy.RETAIN,
      resourcePolicy: appendOnlyPolicy(),
    });
    // Another stack imports this export, so it must stay even while a restored table replaces the table.
    this.exportValue(table.tableName);
    const restored = configuration.restoredTable;
    this.table =
      restored === undefined
        ? { tableName: table.tableName, tableArn: table.tableArn, tableStreamArn: table.tableStreamArn as string }
        : {
            tableName: restored.name,
            tableArn: this.formatArn({ service: 'dynamodb', resource: 'table', resourceName: restored.name }),
            tableStreamArn: restored.streamArn,
          };
    const { backupVaultArn } = configuration;
    if (backupVaultArn !== undefined) {
      new TableBackups(this, 'Backups', { tableArn: this.table.tableArn, vaultArn: backupVaultArn });
    }
    this.publicBucket = addPublicBucket(this);
    this.uploadsBucket = this.#addUploadsBucket(configuration);
    this.logKeys = configuration.logKeyArns?.map((keyArn) => ({ keyArn })) ?? this.#addLogKeys(configuration);
    this.secret = new Secret(this, 'Secret', {
      description: 'Authenticates cursors and seals stored answers. A new value ends all open cursors and replays.',
      generateSecretString: RANDOM_SECRET,
      removalPolicy: RemovalPolicy.RETAIN,
    });
  }

  /**
   * All keys up to the newest stay, including those that no longer sign: readers may know only an old one, and an export
   * that another stack imports cannot be removed.
   */
  #addLogKeys(configuration: Configuration): readonly Key[] {
    const newest = Math.max(...configuration.logKeys);
    const keys = Array.from({ length: newest }, (_, index) => this.#addLogKey(configuration, index + 1));
    for (const { keyArn } of keys) this.exportValue(keyArn);
    return configuration.logKeys.map((number) => keys[number - 1] as Key);
  }

  /**
   * The key's policy denies signatures to all roles except the publisher's. This includes administrators, until they change
   * the policy.
   */
  #addLogKey(configuration: Configuration, number: number): Key {
    const key = new Key(this, `Log${number}Key`, {
      description: `${configuration.name}: signs checkpoints of the log, key ${number}. If it is lost, readers must be told of another.`,
      keySpec: KeySpec.ECC_NIST_EDWARDS25519,
      keyUsage: KeyUsage.SIGN_VERIFY,
      // An existing key cannot become multi-region. A second region can continue the log only with the same key.
      multiRegion: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    key.addToResourcePolicy(
      denyAll('OnlyThePublisherSigns', ['kms:Sign'], ['*'], {
        // The role is in a stack that depends on this one, so the policy names it.
        ArnNotEquals: {
          'aws:PrincipalArn': this.formatArn({
            ...{
              service: 'iam',
              region: '',
              resource: 'role',
              resourceName: accountWideName(configuration, 'publish'),
            },
          }),
        },
      }),
    );
    return key;
  }

  /**
   * Uploaded files, unchanged. No role may delete one. If expiry is configured, S3 removes a file that is old enough, but
   * only after the worker has tagged it: a file with rows that are not ingested yet has no tag, however old it is.
   */
  #addUploadsBucket({ uploadsKeptDays }: Configuration): Bucket {
    const bucket = new Bucket(this, 'Uploads', {
      ...PRIVATE_BUCKET,
      encryption: BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      versioned: true,
      lifecycleRules: [
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        {
          id: 'cold',
          prefix: UPLOADS_PREFIX,
          transitions: [
            {
              storageClass: StorageClass.GLACIER_INSTANT_RETRIEVAL,
              transitionAfter: Duration.days(UPLOADS_COLD_AFTER_DAYS),
            },
          ],
        },
        ...(uploadsKeptDays === undefined ? [] : expiry(Duration.days(uploadsKeptDays))),
      ],
    });
    const deny = (sid: string, actions: string[], conditions = {}) =>
      bucket.addToResourcePolicy(denyAll(sid, actions, [bucket.arnForObjects('*')], conditions));
    deny('NobodyDeletesWhatWasSentIn', ['s3:DeleteObject', 's3:DeleteObjectVersion']);
    // Parts of a multipart upload have no condition, so this denies them too.
    deny('NobodyReplacesWhatWasSentIn', ['s3:PutObject'], { Null: { 's3:if-none-match': 'true' } });
    // CDK's own switch would add a custom resource with another function.
    (bucket.node.defaultChild as CfnBucket).addPropertyOverride(
      'NotificationConfiguration.EventBridgeConfiguration.EventBridgeEnabled',
      true,
    );
    return bucket;
  }
}

/** Expiry hides an object behind a delete marker. So the hidden version is deleted a day later, and then the marker. */
function expiry(age: Duration): readonly LifecycleRule[] {
  const { key, value } = ENDED_UPLOAD_TAG;
  return [
    {
      id: 'ended',
      prefix: UPLOADS_PREFIX,
      tagFilters: { [key]: value },
      expiration: age,
      noncurrentVersionExpiration: Duration.days(1),
    },
    { id: 'markers', prefix: UPLOADS_PREFIX, expiredObjectDeleteMarker: true },
  ];
}
