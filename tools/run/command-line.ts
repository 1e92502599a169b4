/** The arguments of the tools' commands: `--help` prints the usage, and a wrong argument is refused before any work begins. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

/** The options and words after the command. Ends the process after `--help` (0), and for an unknown argument (1). */
export function readCommandLine<const Own extends Options>(usage: string, options: Own, words: 'words' | 'no words') {
  try {
    const parsed = parseArgs({
      options: { ...options, help: { type: 'boolean' } },
      allowPositionals: words === 'words',
    });
    if ((parsed.values as { readonly help?: boolean }).help !== true) {
      return parsed as ReturnType<typeof parseArgs<{ options: Own; allowPositionals: true }>>;
    }
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('. ');
    refuseArguments(reason, usage);
  }
  console.log(usage);
  process.exit(0);
}

/** Ends the process. `reason` is a sentence without a full stop. */
export function refuseArguments(reason: string, usage: string): never {
  console.error(`${reason}.\n${usage}`);
  process.exit(1);
}

export function wholeNumber(name: string, text: string, usage: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  refuseArguments(`--${name} takes a number from 1 to 999999999, not ${JSON.stringify(text)}`, usage);
}
