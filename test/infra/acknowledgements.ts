/** Accepted findings of cdk-nag, with reasons. Another finding fails the test, and so does a row without a finding. */
import { ALL_FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';

/** The rule, with its pack before it, and for some rules with the finding in brackets; the constructs; the reason. */
export type Acknowledgement = readonly [id: string, path: RegExp, reason: string];

const LOGS = 'arn:<AWS::Partition>:logs:us-east-1:<AWS::AccountId>:log-group:/aws/lambda/tidemark-';

const BUCKETS = /\/(PublicObjects|Uploads|AccessLogs)\/Resource$/;
const FUNCTIONS = /\/Function\/Resource$/;
const SECRETS = /\/(Secret|OriginSecret\d+)\/Resource$/;
const PUBLISHERS = /\/(publish|collect-garbage|export|repair|copy)\/Role\//;

/** The same rules in both packs of regulations. Everything here is public data, and what is not has a reason. */
const REGULATIONS: readonly Acknowledgement[] = [
  [
    'DynamoDBInBackupPlan',
    /-data\/Ledger\/Resource$/,
    'Point-in-time recovery is on. A backup in another account is a setting (backupVaultArn).',
  ],
  ['S3BucketLoggingEnabled', BUCKETS, 'As for AwsSolutions-S1.'],
  [
    'S3BucketReplicationEnabled',
    BUCKETS,
    'The ledger makes every public object again, and holds the digest of every upload.',
  ],
  ['S3BucketVersioningEnabled', /-edge\/AccessLogs\/Resource$/, 'Logs are written once, and go after 30 days.'],
  ['S3BucketSSLRequestsOnly', /-data\/PublicObjects\/Resource$/, 'As for AwsSolutions-S10.'],
  [
    'S3DefaultEncryptionKMS',
    BUCKETS,
    'With a key of KMS, an ETag would not be the MD5 of the bytes: equal bytes would lose their ETag.',
  ],
  ['SecretsManagerRotationEnabled', SECRETS, 'As for AwsSolutions-SMG4.'],
  [
    'SecretsManagerUsingKMSKey',
    SECRETS,
    'The default key of Secrets Manager encrypts them, and roles decide who reads them.',
  ],
  [
    'CloudWatchLogGroupEncrypted',
    /\/(Log|AccessLog)\/Resource$/,
    'CloudWatch encrypts logs by itself. They hold no credential and nothing that identifies a person.',
  ],
  [
    'IAMNoInlinePolicy',
    /\/Role\/Resource$/,
    'Each role has one policy of its own, which no other role could use: permissions.ts.',
  ],
  [
    'LambdaConcurrency',
    FUNCTIONS,
    'Small accounts cannot reserve any. The throttle leaves executions to all functions (accountConcurrency).',
  ],
  [
    'LambdaDLQ',
    FUNCTIONS,
    'Events of the stream and of uploads that are given up go to the queue of failures; schedules come again.',
  ],
  [
    'LambdaInsideVPC',
    FUNCTIONS,
    'The functions reach services of AWS and public sources only, and no network of ours.',
  ],
  ['WAFv2LoggingEnabled', /-write-guard\/WebAcl$/, 'The log would hold the addresses of senders.'],
  [
    'CloudWatchAlarmAction',
    /\/Canary\/Errors\/Resource$/,
    'CodeDeploy looks at it during a deployment, and at no other time. Other alarms send mails.',
  ],
  [
    'SNSEncryptedKMS',
    /\/Topic\/Resource$/,
    'CloudWatch cannot publish to a topic that the default key encrypts. Messages name an alarm and nothing else.',
  ],
];

export const ACKNOWLEDGEMENTS: readonly Acknowledgement[] = [
  ...['HIPAA.Security', 'NIST.800.53.R5'].flatMap((pack) =>
    REGULATIONS.map(([id, ...entry]): Acknowledgement => [`${pack}-${id}`, ...entry]),
  ),
  [
    'AwsSolutions-APIG4',
    /\/HttpApi\/DefaultRoute\//,
    'The pipeline of the write API authenticates each request, by token or by API key, as its table of operations says. ' +
      'A second opinion in front of it could only differ.',
  ],
  [
    'AwsSolutions-CFR1',
    /\/Distribution(\/Resource)?$/,
    'Public data, for readers everywhere, and writers may be where they are.',
  ],
  [
    'AwsSolutions-CFR2',
    /-edge\/Distribution$/,
    'Reads are static files, and the router answers whatever is not one. A web ACL is a setting (readWebAclArn), since ' +
      'it costs more for each request than the request does.',
  ],
  [
    'AwsSolutions-CFR2',
    /\/WriteEndpoint\/Distribution\/Resource$/,
    'A rate rule is a setting (writeRateLimit), since it has a price a month; without it, limits in the code remain.',
  ],
  [
    'AwsSolutions-CFR3',
    /\/WriteEndpoint\/Distribution\/Resource$/,
    'API Gateway logs each request without anything that identifies a person. This log would hold addresses.',
  ],
  [
    'AwsSolutions-CFR3',
    /-edge\/Distribution$/,
    'The log holds the addresses of anonymous readers: a setting (readAccessLogs), and off.',
  ],
  [
    'AwsSolutions-CFR4',
    /\/Distribution(\/Resource)?$/,
    "Without a host of one's own the certificate is CloudFront's, whose protocols cannot be chosen.",
  ],
  [
    'AwsSolutions-S1',
    BUCKETS,
    'What is public is read through the CDN alone, and CloudTrail tells who changed a policy. What was sent in is in the ' +
      "ledger's audit, with its digest.",
  ],
  [
    'AwsSolutions-S10',
    /-data\/PublicObjects\/Resource$/,
    'The policy is in the edge stack, because it names the distribution; edge-settings.test.ts asserts that TLS is in it.',
  ],
  [
    'AwsSolutions-SMG4',
    /-data\/Secret\/Resource$/,
    'Rotation would end every cursor and break the replay of every write of the last 72 hours. It is done by hand, after ' +
      'a leak.',
  ],
  [
    'AwsSolutions-SMG4',
    /-api\/OriginSecret\d+\/Resource$/,
    'A deployment with a higher number rotates it (originSecretNumber): the distribution must change with it.',
  ],
  [
    'AwsSolutions-SQS3',
    /-api\/Failures\/Resource$/,
    'This queue takes events that were given up, so it needs no other queue.',
  ],
  [
    'AwsSolutions-COG2',
    /-identity\/Users\/Resource$/,
    'Users may have a second factor. They only reach their own watchlists and claims; operators use keys.',
  ],
  ['AwsSolutions-COG8', /-identity\/Users\/Resource$/, 'The Plus plan bills each user; with many, change the plan.'],
  [
    'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/*]',
    PUBLISHERS,
    'Public objects are below this prefix; permissions.ts lists the actions.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/api/v1/compat/*]',
    PUBLISHERS,
    'Compat are named by markets, days and currencies, below this prefix.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/api/v1/exports/*]',
    PUBLISHERS,
    'Files of exports are named by their contents, below this prefix.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/redo/*]',
    PUBLISHERS,
    'Redo bundles are named by generation and digest, below this prefix.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/layout/*]',
    PUBLISHERS,
    'Layouts of the list are named by generation and digest, below this prefix.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<Uploads4F6EB0FD.Arn>/uploads/*]',
    /\/(write-api|worker|upload-arrived|sources)\/Role\//,
    'Uploads get their names below this prefix when they are announced.',
  ],
  [
    'AwsSolutions-IAM5[Resource::<Uploads4F6EB0FD.Arn>/archive/*]',
    /\/sources\/Role\//,
    'Answers of sources are named by their digest, below this prefix.',
  ],
  [
    'AwsSolutions-IAM5[Resource::*]',
    /\/(publish|worker)\/Role\//,
    'dynamodb:ListStreams knows no resources, and Lambda demands it for an event source mapping.',
  ],
  [
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    /-data\/Backups\/Plan\/Ledger\/Role\//,
    "AWS's own policy for its backups, which changes with what they need.",
  ],
  [
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    /\/Canary\/Group\/ServiceRole\//,
    "AWS's own policy for CodeDeploy: it may move an alias between versions, and look at alarms.",
  ],
  ...['public', 'copy'].map(
    (prefix): Acknowledgement => [
      `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::tidemark-public-eu-west-1-<AWS::AccountId>/${prefix}/*]`,
      /\/(copy|collect-garbage)\/Role\//,
      'Keys below a prefix; the bucket is named, because it is in another region.',
    ],
  ),
  ...ALL_FUNCTION_NAMES.map(
    (name): Acknowledgement => [
      `AwsSolutions-IAM5[Resource::${LOGS}${name}:log-stream:*]`,
      new RegExp(`/${name}/Role/`),
      "Lambda chooses the names of the streams within the function's own log group.",
    ],
  ),
];
