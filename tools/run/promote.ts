/**
 * Continues in the second region: repairs the replica of the ledger, and raises its generation above the first region's.
 * Run it in a clone, with an administrator's credentials: docs/operations.md, "A region is lost". It may be interrupted and
 * repeated.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { AWS_CONCURRENCY, DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { promote } from '../../publisher/repair/promote.ts';
import { createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../storage/s3/s3-objects.ts';
import { readCommandLine, refuseArguments } from './command-line.ts';

const USAGE = `usage:
  npx node tools/run/promote.ts --table TABLE --bucket BUCKET [--seen FILE …] [--new-log NAME] [--endpoint URL]

  --table     the replica of the ledger, which no function writes to
  --bucket    the copy of the public files
  --seen      a checkpoint of the log that somebody has seen; once for each
  --new-log   begins another log with this name, if entries of the log are lost
  --endpoint  another service that speaks DynamoDB and S3, for trying it out`;

const text = { type: 'string' } as const;
const { values, positionals } = readCommandLine(
  USAGE,
  { table: text, bucket: text, seen: { ...text, multiple: true }, 'new-log': text, endpoint: text },
  'words',
);
const { table, bucket, seen = [], 'new-log': newLog = null, endpoint } = values;
if (table === undefined || bucket === undefined || positionals.length > 0) {
  refuseArguments('Name the table and the bucket', USAGE);
}

const place = endpoint === undefined ? {} : { endpoint };
const dynamoDb = createDynamoDbClient(place);
const s3 = createS3Client({ ...place, forcePathStyle: endpoint !== undefined });
try {
  const ledger = openDynamoDbLedger({ client: dynamoDb, tableName: table });
  await checkFormat(ledger);
  const { repaired, generation, logSize, lostEntries } = await promote(
    {
      ledger,
      objects: openS3Objects({ client: s3, bucket }),
      nowMs: Date.now,
      newAttemptId: randomUUID,
      pageSizes: DEFAULT_PAGE_SIZES,
      concurrency: AWS_CONCURRENCY,
    },
    { seen: seen.map((file) => readFileSync(file, 'utf8')), newLog },
  );
  for (const [slug, outcome] of repaired) console.log(`${slug}: ${outcome}`);
  console.log(`Repaired markets: ${repaired.size}. The next generation comes after ${generation ?? 0}.`);
  console.log(
    newLog === null
      ? `The log goes on after ${logSize} entries.`
      : `The log ends with ${logSize} entries, and ${lostEntries} more are lost. ${newLog} begins.`,
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  dynamoDb.destroy();
  s3.destroy();
}
