/** Accepted findings of cdk-nag, with reasons. Another finding fails the test, and so does a row without a finding. */
import { ALL_FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';

export interface Acknowledgement {
  /** With the name of the pack before it, and for some rules with the finding in brackets. */
  readonly id: string;
  /** The constructs that it is about. */
  readonly path: RegExp;
  readonly reason: string;
}

const LOGS = 'arn:<AWS::Partition>:logs:us-east-1:<AWS::AccountId>:log-group:/aws/lambda/tidemark-';

const PUBLISHERS = /\/(publish|collect-garbage|export|repair|copy)\/Role\//;

/** The same rules in both packs of regulations. Everything here is public data, and what is not has a reason. */
const REGULATIONS: readonly Acknowledgement[] = [
  {
    id: 'DynamoDBInBackupPlan',
    path: /-data\/Ledger\/Resource$/,
    reason: 'Point-in-time recovery is on. A backup in another account is a setting (backupVaultArn).',
  },
  {
    id: 'S3BucketLoggingEnabled',
    path: /\/(PublicObjects|Uploads|AccessLogs)\/Resource$/,
    reason: 'As for AwsSolutions-S1.',
  },
  {
    id: 'S3BucketReplicationEnabled',
    path: /\/(PublicObjects|Uploads|AccessLogs)\/Resource$/,
    reason: 'The ledger makes every public object again, and holds the digest of every upload.',
  },
  {
    id: 'S3BucketVersioningEnabled',
    path: /-edge\/AccessLogs\/Resource$/,
    reason: 'Logs are written once, and go after 30 days.',
  },
  {
    id: 'S3BucketSSLRequestsOnly',
    path: /-data\/PublicObjects\/Resource$/,
    reason: 'As for AwsSolutions-S10.',
  },
  {
    id: 'S3DefaultEncryptionKMS',
    path: /\/(PublicObjects|Uploads|AccessLogs)\/Resource$/,
    reason: 'With a key of KMS, an ETag would not be the MD5 of the bytes: equal bytes would lose their ETag.',
  },
  {
    id: 'SecretsManagerRotationEnabled',
    path: /\/(Secret|OriginSecret\d+)\/Resource$/,
    reason: 'As for AwsSolutions-SMG4.',
  },
  {
    id: 'SecretsManagerUsingKMSKey',
    path: /\/(Secret|OriginSecret\d+)\/Resource$/,
    reason: 'The default key of Secrets Manager encrypts them, and roles decide who reads them.',
  },
  {
    id: 'CloudWatchLogGroupEncrypted',
    path: /\/(Log|AccessLog)\/Resource$/,
    reason: 'CloudWatch encrypts logs by itself. They hold no credential and nothing that identifies a person.',
  },
  {
    id: 'IAMNoInlinePolicy',
    path: /\/Role\/Resource$/,
    reason: 'Each role has one policy of its own, which no other role could use: golden/role-*.json.',
  },
  {
    id: 'LambdaConcurrency',
    path: /\/Function\/Resource$/,
    reason: 'Small accounts cannot reserve any. The throttle leaves executions to all functions (accountConcurrency).',
  },
  {
    id: 'LambdaDLQ',
    path: /\/Function\/Resource$/,
    reason: 'Events of the stream and of uploads that are given up go to the queue of failures; schedules come again.',
  },
  {
    id: 'LambdaInsideVPC',
    path: /\/Function\/Resource$/,
    reason: 'The functions reach services of AWS and public sources only, and no network of ours.',
  },
  {
    id: 'WAFv2LoggingEnabled',
    path: /-write-guard\/WebAcl$/,
    reason: 'The log would hold the addresses of senders.',
  },
  {
    id: 'CloudWatchAlarmAction',
    path: /\/Canary\/Errors\/Resource$/,
    reason: 'CodeDeploy looks at it during a deployment, and at no other time. Other alarms send mails.',
  },
  {
    id: 'SNSEncryptedKMS',
    path: /\/Topic\/Resource$/,
    reason:
      'CloudWatch cannot publish to a topic that the default key encrypts. Messages name an alarm and nothing else.',
  },
];

export const ACKNOWLEDGEMENTS: readonly Acknowledgement[] = [
  ...['HIPAA.Security', 'NIST.800.53.R5'].flatMap((pack) =>
    REGULATIONS.map((entry) => ({ ...entry, id: `${pack}-${entry.id}` })),
  ),
  {
    id: 'AwsSolutions-APIG4',
    path: /\/HttpApi\/DefaultRoute\//,
    reason:
      'The pipeline of the write API authenticates each request, by token or by API key, as its table of operations says. ' +
      'A second opinion in front of it could only differ.',
  },
  {
    id: 'AwsSolutions-CFR1',
    path: /\/Distribution(\/Resource)?$/,
    reason: 'Public data, for readers everywhere, and writers may be where they are.',
  },
  {
    id: 'AwsSolutions-CFR2',
    path: /-edge\/Distribution$/,
    reason:
      'Reads are static files, and the router answers whatever is not one. A web ACL is a setting (readWebAclArn), since ' +
      'it costs more for each request than the request does.',
  },
  {
    id: 'AwsSolutions-CFR2',
    path: /\/WriteEndpoint\/Distribution\/Resource$/,
    reason:
      'A rate rule is a setting (writeRateLimit), since it has a price a month; without it, limits in the code remain.',
  },
  {
    id: 'AwsSolutions-CFR3',
    path: /\/WriteEndpoint\/Distribution\/Resource$/,
    reason: 'API Gateway logs each request without anything that identifies a person. This log would hold addresses.',
  },
  {
    id: 'AwsSolutions-CFR3',
    path: /-edge\/Distribution$/,
    reason: 'The log holds the addresses of anonymous readers: a setting (readAccessLogs), and off.',
  },
  {
    id: 'AwsSolutions-CFR4',
    path: /\/Distribution(\/Resource)?$/,
    reason: "Without a host of one's own the certificate is CloudFront's, whose protocols cannot be chosen.",
  },
  {
    id: 'AwsSolutions-S1',
    path: /\/(PublicObjects|Uploads|AccessLogs)\/Resource$/,
    reason:
      'What is public is read through the CDN alone, and CloudTrail tells who changed a policy. What was sent in is in the ' +
      "ledger's audit, with its digest.",
  },
  {
    id: 'AwsSolutions-S10',
    path: /-data\/PublicObjects\/Resource$/,
    reason:
      'The policy is in the edge stack, because it names the distribution; edge-settings.test.ts asserts that TLS is in it.',
  },
  {
    id: 'AwsSolutions-SMG4',
    path: /-data\/Secret\/Resource$/,
    reason:
      'Rotation would end every cursor and break the replay of every write of the last 72 hours. It is done by hand, after ' +
      'a leak.',
  },
  {
    id: 'AwsSolutions-SMG4',
    path: /-api\/OriginSecret\d+\/Resource$/,
    reason: 'A deployment with a higher number rotates it (originSecretNumber): the distribution must change with it.',
  },
  {
    id: 'AwsSolutions-SQS3',
    path: /-api\/Failures\/Resource$/,
    reason: 'This queue takes events that were given up, so it needs no other queue.',
  },
  {
    id: 'AwsSolutions-COG2',
    path: /-identity\/Users\/Resource$/,
    reason: 'Users may have a second factor. They only reach their own watchlists and claims; operators use keys.',
  },
  {
    id: 'AwsSolutions-COG8',
    path: /-identity\/Users\/Resource$/,
    reason: 'The Plus plan bills each user; with many, change the plan.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/*]',
    path: PUBLISHERS,
    reason: 'Public objects are below this prefix; golden/role-*.json lists the actions.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/api/v1/compat/*]',
    path: PUBLISHERS,
    reason: 'Compat are named by markets, days and currencies, below this prefix.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/public/api/v1/exports/*]',
    path: PUBLISHERS,
    reason: 'Files of exports are named by their contents, below this prefix.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/redo/*]',
    path: PUBLISHERS,
    reason: 'Redo bundles are named by generation and digest, below this prefix.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<PublicObjects4D368D80.Arn>/layout/*]',
    path: PUBLISHERS,
    reason: 'Layouts of the list are named by generation and digest, below this prefix.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<Uploads4F6EB0FD.Arn>/uploads/*]',
    path: /\/(write-api|worker|upload-arrived|sources)\/Role\//,
    reason: 'Uploads get their names below this prefix when they are announced.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::<Uploads4F6EB0FD.Arn>/archive/*]',
    path: /\/sources\/Role\//,
    reason: 'Answers of sources are named by their digest, below this prefix.',
  },
  {
    id: 'AwsSolutions-IAM5[Resource::*]',
    path: /\/(publish|worker)\/Role\//,
    reason: 'dynamodb:ListStreams knows no resources, and Lambda demands it for an event source mapping.',
  },
  {
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup]',
    path: /-data\/Backups\/Plan\/Ledger\/Role\//,
    reason: "AWS's own policy for its backups, which changes with what they need.",
  },
  {
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    path: /\/Canary\/Group\/ServiceRole\//,
    reason: "AWS's own policy for CodeDeploy: it may move an alias between versions, and look at alarms.",
  },
  ...['public', 'copy'].map((prefix) => ({
    id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::tidemark-public-eu-west-1-<AWS::AccountId>/${prefix}/*]`,
    path: /\/(copy|collect-garbage)\/Role\//,
    reason: 'Keys below a prefix; the bucket is named, because it is in another region.',
  })),
  ...ALL_FUNCTION_NAMES.map((name) => ({
    id: `AwsSolutions-IAM5[Resource::${LOGS}${name}:log-stream:*]`,
    path: new RegExp(`/${name}/Role/`),
    reason: "Lambda chooses the names of the streams within the function's own log group.",
  })),
];
