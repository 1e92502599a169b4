/**
 * The `git` program, without a shell. A stranger controls the repository and its contents, so nothing in them may become an
 * option, a hook or a program. Git works in a bare repository of our own, and reads only from https and from folders.
 */
import { type ExecFileException, execFile } from 'node:child_process';
import { StartError } from '../service/start-error.ts';

const SETTINGS = [
  ...['protocol.allow=never', 'protocol.https.allow=always', 'protocol.file.allow=always', 'protocol.ext.allow=never'],
  ...[
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'log.showSignature=false',
    'gc.auto=0',
    'maintenance.auto=false',
  ],
].flatMap((setting) => ['-c', setting]);

/** The limit of output; the list of commits is the longest. */
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
const SHOWN_CHARACTERS = 300;

const wordsOf = (folder: string, words: readonly string[]) => [
  ...['--no-pager', '--literal-pathspecs', `--git-dir=${folder}`],
  ...SETTINGS,
  ...words,
];

/** The environment without our secrets, without the variables that git sets for its hooks, and without prompts. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^TIDEMARK_|^GIT_(?!SSL_|TRACE|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$)/.test(name),
  );
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', GIT_ASKPASS: 'true', LC_ALL: 'C' };
}

/** @throws StartError with the last lines that git printed */
export async function runGit(folder: string, words: readonly string[], input = ''): Promise<string> {
  return (await outputOf(folder, words, OUTPUT_BYTES_MAX, input)).toString('utf8');
}

const OBJECT_ID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;

/** Reads the file of any version. Null: it is larger than `maxBytes`. @throws StartError if git cannot read it */
export async function readGitFile(folder: string, id: string, maxBytes: number): Promise<Uint8Array | null> {
  if (!OBJECT_ID.test(id)) throw new RangeError(`${id} is not an object of git`);
  return await outputOf(folder, ['cat-file', 'blob', id], maxBytes).catch((error: StartError) => {
    if ((error.cause as ExecFileException).code === TOO_LONG) return null;
    throw error;
  });
}

const TOO_LONG: unknown = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';

async function outputOf(folder: string, words: readonly string[], maxBuffer: number, input = ''): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const options = { env: environment(), maxBuffer, encoding: 'buffer' } as const;
    const child = execFile('git', wordsOf(folder, words), options, (error, output, errors) => {
      if (error === null) resolve(output);
      else reject(failure(words[0] ?? '', error, errors.toString('utf8')));
    });
    // A program that fails at once closes its input: the write error is ignored.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
}

function failure(command: string, error: ExecFileException, errors: string): StartError {
  if (error.code === 'ENOENT')
    return new StartError(
      '--git needs the program git, which is not installed or not in PATH. Install git, and run the command again.',
      { cause: error },
    );
  const said = errors.trim().split('\n').slice(-3).join(' ').slice(-SHOWN_CHARACTERS);
  return new StartError(`git ${command} failed: ${said || error.message}`, { cause: error });
}
