/**
 * Moves a backup of a server to AWS: the ledger into a new table, the uploads into the bucket of uploads. Run it in a
 * clone, with an administrator's credentials: docs/deploy.md, "Move from the embedded server". It may be interrupted and
 * repeated.
 */
import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import type { Manifest } from '../../server/backup/manifest.ts';
import { type ChosenBackup, checkBackup, chooseBackup } from '../../server/backup/read-backup.ts';
import { LEDGER_FILE } from '../../server/folder/data-folder.ts';
import { BULK_TIMEOUTS, createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { importLedger } from '../../storage/ports/import-ledger.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import { isUploadId } from '../../storage/ports/upload-store.ts';
import { uploadKey } from '../../storage/records/batches.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { putUploadFile } from '../../storage/s3/s3-upload-files.ts';
import { openS3Uploads } from '../../storage/s3/s3-uploads.ts';
import { partitionsOf } from '../../storage/sqlite/sqlite-copy.ts';
import { openLedgerCopy } from '../../storage/sqlite/sqlite-ledger.ts';
import { readCommandLine, refuseArguments } from './command-line.ts';
import { openProgress } from './progress.ts';

const USAGE = `usage:
  npx node tools/run/import-to-aws.ts FOLDER --table TABLE --bucket BUCKET [--from NAME] [--endpoint URL]

  FOLDER      the folder of \`tidemark backup\`; the newest backup in it, or the one that --from names
  --table     a new DynamoDB table, which nothing uses yet
  --bucket    the bucket of uploads
  --endpoint  another service that speaks DynamoDB and S3, for trying it out`;

const text = { type: 'string' } as const;
const { values, positionals } = readCommandLine(
  USAGE,
  { table: text, bucket: text, from: text, endpoint: text },
  'words',
);
const [folder, ...rest] = positionals;
const { table, bucket, from = null, endpoint } = values;
if (folder === undefined || rest.length > 0) refuseArguments('Name one folder of backups', USAGE);
if (table === undefined || bucket === undefined) refuseArguments('Name the table and the bucket', USAGE);

const place = endpoint === undefined ? {} : { endpoint };
const dynamoDb = createDynamoDbClient(place, BULK_TIMEOUTS);
const s3 = createS3Client({ ...place, forcePathStyle: endpoint !== undefined });
const progress = openProgress(process.stderr);
try {
  const backup = chooseBackup(folder, from);
  await checkBackup(backup, (step, done, of) => progress.at(step, `${done} of ${of} files`));
  progress.end('Checking the backup');
  await importFiles(backup, table, bucket);
} catch (error) {
  progress.end('Checking the backup');
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  dynamoDb.destroy();
  s3.destroy();
}

async function importFiles({ dir, name, manifest }: ChosenBackup, tableName: string, uploads: string): Promise<void> {
  const path = join(dir, name, LEDGER_FILE);
  const source = openLedgerCopy(path);
  try {
    await importItems(source, path, manifest, tableName);
    await importUploads(source, dir, manifest, uploads);
  } finally {
    source.close();
    progress.end('Ledger');
    progress.end('Uploads');
  }
}

async function importItems(source: LedgerReader, path: string, manifest: Manifest, tableName: string): Promise<void> {
  const { items, wasFinished } = await importLedger({
    source,
    partitions: partitionsOf(path),
    digest: manifest.files[LEDGER_FILE]?.sha256 ?? '',
    target: openDynamoDbLedger({ client: dynamoDb, tableName }),
    progress: (done, of) => progress.at('Ledger', `${done} of ${of} partitions`),
  });
  progress.end('Ledger');
  console.log(wasFinished ? `${tableName} has this ledger already.` : `${tableName} has ${items} items.`);
}

async function importUploads(source: LedgerReader, dir: string, manifest: Manifest, bucketName: string): Promise<void> {
  const files = Object.entries(manifest.shared).filter(([file]) => isUploadId(basename(file)));
  const uploads = openS3Uploads({ client: s3, bucket: bucketName });
  for (const [done, [file, content]] of files.entries()) {
    progress.at('Uploads', `${done} of ${files.length}`);
    const id = basename(file);
    await putUploadFile({ client: s3, bucket: bucketName }, id, content, createReadStream(join(dir, file)));
    const stored = await uploads.head(id);
    if (stored?.bytes !== content.bytes) {
      throw new Error(
        `${bucketName} has ${stored?.bytes ?? 'no'} bytes as the upload ${id}, and the backup has ${content.bytes}: ` +
          'another file may have its name. Use a bucket without uploads, or remove that object, and repeat the command.',
      );
    }
    // Only for a finished upload may the bucket's lifecycle remove the file.
    if ((await source.get(uploadKey(id)))?.value.finishedAt) await uploads.markEnded(id);
  }
  progress.end('Uploads');
  console.log(`${bucketName} has ${files.length} ${files.length === 1 ? 'upload' : 'uploads'}.`);
}
