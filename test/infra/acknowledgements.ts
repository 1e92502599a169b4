/** Accepted findings of cdk-nag, with reasons. Another finding fails the test, and so does a row without a finding. */
import { FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';

export interface Acknowledgement {
  /** With the name of the pack before it, and for some rules with the finding in brackets. */
  readonly id: string;
  /** The constructs that it is about. */
  readonly path: RegExp;
  readonly reason: string;
}

const LOGS = 'arn:<AWS::Partition>:logs:us-east-1:<AWS::AccountId>:log-group:/aws/lambda/tidemark-';

const PUBLISHERS = /\/(publish|collect-garbage|export|repair)\/Role\//;

export const ACKNOWLEDGEMENTS: readonly Acknowledgement[] = [
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
  ...FUNCTION_NAMES.map((name) => ({
    id: `AwsSolutions-IAM5[Resource::${LOGS}${name}:log-stream:*]`,
    path: new RegExp(`/${name}/Role/`),
    reason: "Lambda chooses the names of the streams within the function's own log group.",
  })),
];
