/** The policy of the bucket of public objects. */
import { PolicyDocument, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  PUBLIC_OBJECTS,
  PUBLIC_PREFIX,
  type PublicObjectKind,
  publicKey,
} from '../../contract/files/public-objects.ts';
import { LAYOUT_OBJECTS, REDO_OBJECTS } from './permissions.ts';
import { denyAll } from './policies.ts';

/**
 * CloudFront may read, and may list so that a missing object is 404 instead of 403. Every put must name the object that it
 * may replace (docs/decisions/001), and every delete must name the ETag of the object. Immutable objects replace nothing.
 */
export function publicBucketPolicy(bucketArn: string, distributionArn: string): PolicyDocument {
  const isPattern = distributionArn.endsWith('*');
  const cdn = new ServicePrincipal('cloudfront.amazonaws.com');
  const objects = (pattern: string) => `${bucketArn}/${pattern}`;
  const throughThisDistribution = { [isPattern ? 'ArnLike' : 'StringEquals']: { 'AWS:SourceArn': distributionArn } };
  return new PolicyDocument({
    statements: [
      new PolicyStatement({
        sid: 'CdnReadsPublicObjects',
        principals: [cdn],
        actions: ['s3:GetObject'],
        resources: [objects(`${PUBLIC_PREFIX}/*`)],
        conditions: throughThisDistribution,
      }),
      new PolicyStatement({
        sid: 'MissingIsNotForbidden',
        principals: [cdn],
        actions: ['s3:ListBucket'],
        resources: [bucketArn],
        conditions: throughThisDistribution,
      }),
      denyAll('OnlyOverTls', ['s3:*'], [bucketArn, objects('*')], { Bool: { 'aws:SecureTransport': 'false' } }),
      denyAll('NoUnconditionalPut', ['s3:PutObject'], [objects('*')], {
        Null: { 's3:if-match': 'true', 's3:if-none-match': 'true' },
      }),
      denyAll('NoUnconditionalDelete', ['s3:DeleteObject', 's3:DeleteObjectVersion'], [objects('*')], {
        Null: { 's3:if-match': 'true' },
      }),
      denyAll('ImmutableObjectsReplaceNothing', ['s3:PutObject'], immutableObjects().map(objects), {
        Null: { 's3:if-none-match': 'true' },
      }),
    ],
  });
}

/** Key patterns of pages, redo bundles and layouts, from the table of public objects. */
function immutableObjects(): string[] {
  // A star matches slashes, too: `markets/pages/*.json` would also match the history of a market with the slug `pages`.
  const name = { slug: '*', cursor: `*-${'?'.repeat(32)}` };
  const pages = (Object.keys(PUBLIC_OBJECTS) as PublicObjectKind[])
    .filter((kind) => PUBLIC_OBJECTS[kind].retention === 'page')
    .map((kind) => publicKey({ kind, ...name } as Parameters<typeof publicKey>[0]));
  return [...pages, REDO_OBJECTS, LAYOUT_OBJECTS];
}
