/** `tidemark receipt`: proofs of single values from the log. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { verifierKey } from '../../contract/log/notes.ts';
import { withClient, withOptions } from '../program/handlers.ts';
import type { ReceiptFlags } from './receipt-flags.ts';

/** `verify` and `mirror` have this option, too. */
export function logKeyOption(): Option {
  const words = 'the verifier key of the log, as its operator states it; may be repeated';
  return new Option('--log-key <vkey>', words).argParser(logKeys);
}

function logKeys(text: string, before: readonly string[] = []): readonly string[] {
  try {
    return [...before, verifierKey(text).vkey];
  } catch (cause) {
    if (!(cause instanceof LogFaultError)) throw cause;
    throw new InvalidArgumentError(`${cause.message}. Write it as GET /api/v1/log/vkey shows it.`);
  }
}

export function addReceiptCommands(program: Command): void {
  const receipt = program
    .command('receipt')
    .description('write a proof that the log has a value, for use without a network')
    .argument('<slug>', 'the market')
    .option('--observed-at <time>', 'the moment of the value, as the history has it')
    .option('--metric <name>', 'the metric', 'price')
    .option('--source <url>', 'the sourceUrl, if several sources have a value of that moment')
    .option('-o, --output <file>', 'write it there (default: print it)')
    .addOption(logKeyOption())
    .addHelpText(
      'after',
      `
Example:
  tidemark receipt gold-usd --observed-at 2026-09-29T00:00:00Z -o gold.tlog-proof`,
    )
    .action(
      withClient(async (client, options: ReceiptFlags, slug: string) =>
        (await import('./write-receipt.ts')).writeReceipt(client, slug, options),
      ),
    );

  receipt
    .command('verify')
    .description('check a receipt, without a network; ends with 1 if it proves nothing')
    .argument('<file>', 'the receipt')
    .addOption(logKeyOption())
    .addHelpText(
      'after',
      `
Without --log-key, the keys count that \`tidemark verify --log\` has remembered for the log of this name: only those that
it has found at every base URL of that log. The output names the key, and the base URL that it comes from.

Example:
  tidemark receipt verify gold.tlog-proof`,
    )
    .action(
      withOptions(async (options: ReceiptFlags, file: string) =>
        (await import('./verify-receipt.ts')).verifyReceipt(file, options),
      ),
    );
}
