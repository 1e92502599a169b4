/** The resources of the data stack, on engines: the table with its stream, both buckets, the secret. */
import { randomBytes, randomUUID } from 'node:crypto';
import { CreateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { BULK_TIMEOUTS, createDynamoDbClient } from '../../../storage/dynamodb/dynamodb-client.ts';
import { createS3Client } from '../../../storage/s3/s3-client.ts';
import type { Properties } from '../../infra/synthesised.ts';
import type { EngineStates } from '../engines/engine.ts';
import { ACCOUNT, type Physical, propertiesOf, REGION, type Templates } from './references.ts';

/** Where the engines are. */
export interface Engines {
  readonly dynamoDb: string;
  readonly s3: string;
  /** The address to which the S3 engine posts its events. */
  readonly s3Events: string;
  readonly secretsManager: string;
}

/** The engines that a shape needs, by name. */
export const SHAPE_ENGINES = ['dynoxide', 'versitygw', 'moto'] as const;

/** Null when one of them is missing. */
export function enginesOf(states: EngineStates): Engines | null {
  const [dynoxide, versitygw, moto] = SHAPE_ENGINES.map((name) => states[name] ?? { missing: name });
  if (!dynoxide || !versitygw || !moto) return null;
  if ('missing' in dynoxide || 'missing' in versitygw || 'missing' in moto) return null;
  const { endpoint: s3, eventsUrl: s3Events } = versitygw;
  if (s3Events === undefined) return null;
  return { dynamoDb: dynoxide.endpoint, s3, s3Events, secretsManager: moto.endpoint };
}

/** Of an engine's owner. A role's would come with a session token, which the gateway refuses: so no function has one here. */
export const CREDENTIALS = { accessKeyId: 'engine', secretAccessKey: 'engine-secret' };

export interface Resources {
  readonly physical: Physical;
  readonly publicBucket: string;
  readonly uploadsBucket: string;
  /** The texts of those secrets that templates refer to, by their ARN. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** @throws RangeError when the templates say something that the engines are not asked for. */
export async function makeResources(templates: Templates, engines: Engines): Promise<Resources> {
  const place = (endpoint: string) => ({ endpoint, region: REGION, credentials: CREDENTIALS });
  const { tableName, streamArn } = await makeTable(templates, place(engines.dynamoDb));
  const s3 = createS3Client(place(engines.s3));
  const publicBucket = `tidemark-public-${randomUUID()}`;
  const uploadsBucket = `tidemark-uploads-${randomUUID()}`;
  for (const Bucket of [publicBucket, uploadsBucket]) await s3.send(new CreateBucketCommand({ Bucket }));
  s3.destroy();
  const secretsPlace = place(engines.secretsManager);
  const secret = await makeSecret(propertiesOf(templates, 'data', 'Secret'), secretsPlace);
  const originSecret = await makeSecret(propertiesOf(templates, 'api', 'OriginSecret1'), secretsPlace);
  const physical = {
    'data/Ledger.Ref': tableName,
    'data/Ledger.StreamArn': streamArn,
    'data/PublicObjects.Ref': publicBucket,
    'data/Uploads.Ref': uploadsBucket,
    'data/Secret.Ref': secret.arn,
    'data/Log1Key.Arn': `arn:aws:kms:${REGION}:${ACCOUNT}:key/log-1`,
    'api/OriginSecret1.Ref': originSecret.arn,
  };
  const secrets = new Map([[originSecret.arn, originSecret.text]]);
  return { physical, publicBucket, uploadsBucket, secrets };
}

type Place = { endpoint: string; region: string; credentials: typeof CREDENTIALS };

async function makeTable(templates: Templates, place: Place): Promise<{ tableName: string; streamArn: string }> {
  const table = propertiesOf(templates, 'data', 'Ledger');
  const { AttributeDefinitions, KeySchema, BillingMode, StreamSpecification, TimeToLiveSpecification } = table;
  const client = createDynamoDbClient(place, BULK_TIMEOUTS);
  const TableName = `ledger-${randomUUID()}`;
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions,
      KeySchema,
      BillingMode,
      StreamSpecification: { StreamEnabled: true, ...StreamSpecification },
    }),
  );
  await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
  client.destroy();
  return { tableName: TableName, streamArn: TableDescription?.LatestStreamArn as string };
}

/** Secrets Manager would make the text itself, to this specification: so many characters that are hexadecimal digits. */
async function makeSecret(
  { GenerateSecretString }: Properties,
  place: Place,
): Promise<{ readonly arn: string; readonly text: string }> {
  const { PasswordLength, ExcludeCharacters } = GenerateSecretString;
  const SecretString = randomBytes(PasswordLength / 2).toString('hex');
  if ([...ExcludeCharacters].some((character) => SecretString.includes(character))) {
    throw new RangeError(`the secret may not hold ${ExcludeCharacters}: make it of something else`);
  }
  const client = new SecretsManagerClient(place);
  const { ARN } = await client.send(new CreateSecretCommand({ Name: `tidemark-${randomUUID()}`, SecretString }));
  client.destroy();
  return { arn: ARN as string, text: SecretString };
}
