/** `npm start`: runs Tidemark in this process, and tells the person who started it what there is to see. */
import { relative } from 'node:path';
import ora from 'ora';
import { StorageCorrupt, StorageUnavailable } from '../storage/ledger.ts';
import type { HeadValue } from '../storage/records.ts';
import { readConfig, StartError } from './config.ts';
import { type Service, startService } from './service.ts';

const number = new Intl.NumberFormat('en-GB');
const spinner = ora({ stream: process.stdout });

async function main(): Promise<void> {
  const config = readConfig(process.env);
  console.log('\nTidemark: market data as static files\n');
  const progress = {
    ingesting: (records: number) => {
      // Where lines cannot be rewritten, one is enough.
      if (spinner.isSpinning && !process.stdout.isTTY) return;
      spinner.text = `Ingesting the sample: ${number.format(records)} records`;
      if (!spinner.isSpinning) spinner.start();
    },
    ingested: (fresh: boolean) => {
      spinner.succeed(fresh ? 'Ingested the sample' : 'The sample is in the ledger already');
    },
    publishing: () => {
      spinner.start('Publishing');
    },
  };
  const service = await startService(config, progress, report);
  spinner.succeed(`Published: ${summary(service.head)}`);
  console.log(welcome(service.baseUrl, relative('', config.dataFolder) || config.dataFolder));
  stopOnSignals(service);
}

function summary({ counts, generation }: HeadValue): string {
  const { markets, observations, unknownValues } = counts;
  const parts = [`${number.format(markets)} markets`, `${number.format(observations)} observations`];
  return `${parts.join(', ')} (${number.format(unknownValues)} unknown values), generation ${generation}`;
}

function welcome(baseUrl: string, dataFolder: string): string {
  return `
  Base URL  ${baseUrl}
  Data      ${dataFolder} (delete it to begin anew)

  Try
    curl ${baseUrl}/api/v1/markets/gold-usd
    curl '${baseUrl}/api/v1/markets/bitcoin-usd/history'
    curl -i ${baseUrl}/api/v1/snapshot

  Ctrl-C stops it; nothing that was acknowledged is lost, however it ends.
`;
}

/** The first signal ends it cleanly, the second at once. */
function stopOnSignals(service: Service): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    stopping = true;
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        report('stopping failed', error);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function report(what: string, cause: unknown): void {
  console.error(`${new Date().toISOString()} ${what}: ${cause instanceof Error ? cause.message : String(cause)}`);
}

main().catch((error: unknown) => {
  if (spinner.isSpinning) spinner.fail();
  const expected =
    error instanceof StartError || error instanceof StorageUnavailable || error instanceof StorageCorrupt;
  console.error(expected ? error.message : error);
  process.exitCode = 1;
});
