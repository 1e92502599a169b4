/** Events with which AWS invokes functions, as documented and recorded. */
import { ORIGIN_SECRET_HEADER, VIEWER_ADDRESS_HEADER } from '../../storage/aws/names.ts';

const REQUEST_ID = 'JKJaXmPLvHcESHA=';

/** From an API Gateway HTTP API, payload format version 2.0, without a credential; sent to its own endpoint. */
export const DIRECT_HTTP_EVENT = {
  version: '2.0',
  routeKey: '$default',
  rawPath: '/api/v1/me',
  rawQueryString: '',
  headers: {
    accept: '*/*',
    'content-length': '0',
    host: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
    'user-agent': 'curl/8.5.0',
    'x-amzn-trace-id': 'Root=1-69208f2e-5fbd3d4a0e2c6f5e7a1b9c3d',
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-port': '443',
    'x-forwarded-proto': 'https',
  },
  requestContext: {
    accountId: '123456789012',
    apiId: 'a1b2c3d4e5',
    domainName: 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
    domainPrefix: 'a1b2c3d4e5',
    http: {
      method: 'GET',
      path: '/api/v1/me',
      protocol: 'HTTP/1.1',
      sourceIp: '203.0.113.7',
      userAgent: 'curl/8.5.0',
    },
    requestId: REQUEST_ID,
    routeKey: '$default',
    stage: '$default',
    time: '20/Nov/2026:15:00:00 +0000',
    timeEpoch: 1795186800000,
  },
  isBase64Encoded: false,
};

/** The value that AWS's stand-in gives every secret. */
export const SECRET_TEXT = 'a'.repeat(64);

/** The same, through the write host's distribution. */
export const HTTP_EVENT = {
  ...DIRECT_HTTP_EVENT,
  headers: {
    ...DIRECT_HTTP_EVENT.headers,
    via: '2.0 8f22423015641505b8c857a37450d6c0.cloudfront.net (CloudFront)',
    'x-amz-cf-id': 'D5wOzqtVbhrtbaD8fjcP5m_0lcXPaNaM',
    'x-forwarded-for': '198.51.100.9, 203.0.113.7',
    [ORIGIN_SECRET_HEADER]: SECRET_TEXT,
    [VIEWER_ADDRESS_HEADER]: '198.51.100.9',
  },
};

/** From the event source mapping of a DynamoDB stream. */
export const STREAM_EVENT = {
  Records: [
    {
      eventID: 'c4ca4238a0b923820dcc509a6f75849b',
      eventName: 'INSERT',
      eventVersion: '1.1',
      eventSource: 'aws:dynamodb',
      awsRegion: 'eu-west-1',
      dynamodb: {
        ApproximateCreationDateTime: 1795186800,
        Keys: { pk: { S: 'dirty/0' }, sk: { S: 'market/gold-usd' } },
        NewImage: { pk: { S: 'dirty/0' }, sk: { S: 'market/gold-usd' } },
        SequenceNumber: '4421584500000000017450439091',
        SizeBytes: 59,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      },
      eventSourceARN: 'arn:aws:dynamodb:eu-west-1:123456789012:table/tidemark/stream/2026-11-20T15:00:00.000',
    },
  ],
};

/** From an EventBridge rule with a schedule. */
export const SCHEDULE_EVENT = {
  version: '0',
  id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '123456789012',
  time: '2026-11-20T15:00:00Z',
  region: 'eu-west-1',
  resources: ['arn:aws:events:eu-west-1:123456789012:rule/tidemark-sweep'],
  detail: {},
};

/** From an EventBridge rule on events of a bucket. */
export const UPLOADED_EVENT = {
  version: '0',
  id: '17793124-05d4-b198-2fde-7ededc63b103',
  'detail-type': 'Object Created',
  source: 'aws.s3',
  account: '123456789012',
  time: '2026-11-20T15:00:00Z',
  region: 'eu-west-1',
  resources: ['arn:aws:s3:::tidemark-uploads'],
  detail: {
    version: '0',
    bucket: { name: 'tidemark-uploads' },
    object: {
      key: 'uploads/upl_01KAH4Q2Z3N5R7T9V1X3Z5B7D9',
      size: 1_048_576,
      etag: 'b1946ac92492d2347c6235b4d2611184',
      'version-id': 'IYV3p45BT0ac8hjHg1houSdS1a.Mro8e',
      sequencer: '00617F08299329D189',
    },
    'request-id': 'N4N7GDK58NMKJ12R',
    requester: '123456789012',
    'source-ip-address': '203.0.113.7',
    reason: 'PutObject',
  },
};
