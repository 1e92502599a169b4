/**
 * Builds mapping/sample/models.csv: `node tools/build/build-models-sample.ts FOLDER`. Each release of LiteLLM holds its
 * map of prices, and PyPI says when it was published. FOLDER keeps the maps as `VERSION.json`: those that it lacks are
 * taken from the releases by pip. Needs Python and the network. The same releases give the same bytes.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { csvRecord } from '../../contract/values/csv.ts';
import { readCommandLine, refuseArguments } from '../run/command-line.ts';

/** A year of final releases: of each week the last one that was the newest version by then. */
const RELEASES = [
  ...['1.80.5', '1.80.7', '1.80.8', '1.80.10', '1.80.11', '1.80.15', '1.81.0', '1.81.3', '1.81.6', '1.81.9', '1.81.12'],
  ...['1.81.14', '1.82.0', '1.82.2', '1.82.6', '1.83.3', '1.83.4', '1.83.10', '1.83.14', '1.85.0', '1.86.0', '1.86.2'],
  ...['1.88.0', '1.89.0', '1.89.3', '1.90.0', '1.91.0', '1.92.0', '1.93.0', '1.95.0', '1.96.0', '1.97.0', '1.98.0'],
  ...['1.100.0', '1.100.1', '1.102.0', '1.103.0', '1.104.0', '1.105.0', '1.106.0', '1.106.4', '1.106.6', '1.108.3'],
  ...['1.109.1', '1.110.2'],
];

/** Well-known models, many of them with changes. Each is on the newest list. */
const MODELS = [
  'claude-haiku-4-5',
  'claude-haiku-5-5',
  'claude-opus-4-5',
  'claude-opus-4-6',
  'claude-opus-4-7',
  'claude-opus-4-8',
  'claude-opus-5',
  'claude-opus-5-5',
  'claude-sonnet-4-5',
  'claude-sonnet-4-6',
  'claude-sonnet-5',
  'claude-sonnet-5-5',
  'command-r7b-12-2024',
  'deepinfra/deepseek-ai/DeepSeek-V3.1',
  'deepinfra/meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8',
  'deepseek/deepseek-chat',
  'deepseek/deepseek-reasoner',
  'deepseek/deepseek-v4-flash',
  'deepseek/deepseek-v4-pro',
  'gemini/gemini-2.5-flash',
  'gemini/gemini-2.5-flash-lite',
  'gemini/gemini-2.5-pro',
  'gemini/gemini-3-flash-preview',
  'gemini/gemini-3.1-flash-lite',
  'gemini/gemini-3.1-pro-preview',
  'gemini/gemini-3.5-flash',
  'gemini/gemini-3.6-flash',
  'gemini/gemini-3.8-flash',
  'gpt-4.1',
  'gpt-4.1-mini',
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-5',
  'gpt-5-mini',
  'gpt-5-nano',
  'gpt-5-pro',
  'gpt-5.1',
  'gpt-5.2',
  'gpt-5.4',
  'gpt-5.5',
  'gpt-5.6',
  'gpt-5.6-luna',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'groq/openai/gpt-oss-120b',
  'groq/openai/gpt-oss-20b',
  'minimax/MiniMax-M3',
  'mistral/codestral-latest',
  'mistral/magistral-medium-latest',
  'mistral/mistral-large-4',
  'mistral/mistral-large-latest',
  'mistral/mistral-medium-latest',
  'mistral/mistral-small-latest',
  'together_ai/Qwen/Qwen3.7-Max',
  'together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo',
  'together_ai/moonshotai/Kimi-K3',
  'xai/grok-4.20-0309-reasoning',
  'xai/grok-4.5',
  'xai/grok-code-fast-1',
];

const FIELDS = [
  ...(['input_cost_per_token', 'output_cost_per_token', 'cache_read_input_token_cost'] as const),
  ...(['cache_creation_input_token_cost', 'max_input_tokens', 'max_output_tokens'] as const),
] as const;
const FACTS = ['litellm_provider', 'mode', 'deprecation_date'] as const;

const SAMPLE = join(import.meta.dirname, '../../mapping/sample/models.csv');
const MAP_IN_WHEEL = 'litellm/model_prices_and_context_window_backup.json';

type Model = Readonly<Record<string, string>>;
/** The digits of each field, by model. */
type PriceMap = Readonly<Record<string, Model>>;

/** Numbers become texts with their own digits. */
function readMap(path: string): PriceMap {
  const keepDigits = (_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? source : value;
  return JSON.parse(readFileSync(path, 'utf8'), keepDigits as (key: string, value: unknown) => unknown) as PriceMap;
}

/** @returns the place of the map of the release, which is downloaded if the folder lacks it */
function mapOfRelease(folder: string, version: string): string {
  const path = join(folder, `${version}.json`);
  if (existsSync(path)) return path;
  const wheels = mkdtempSync(join(tmpdir(), 'litellm-'));
  try {
    const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--dest', wheels];
    execFileSync('pip', ['download', ...options, `litellm==${version}`], { stdio: 'inherit' });
    const unzip = 'import sys, zipfile; sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))';
    const wheel = join(wheels, readdirSync(wheels)[0] as string);
    writeFileSync(path, execFileSync('python3', ['-c', unzip, wheel, MAP_IN_WHEEL], { maxBuffer: 2 ** 28 }));
  } finally {
    rmSync(wheels, { recursive: true });
  }
  return path;
}

/** When each release was uploaded, to the second (PEP 700). */
async function uploadTimes(): Promise<ReadonlyMap<string, string>> {
  const headers = { accept: 'application/vnd.pypi.simple.v1+json' };
  const response = await fetch('https://pypi.org/simple/litellm/', { headers });
  const { files } = (await response.json()) as {
    readonly files: readonly { readonly filename: string; readonly 'upload-time': string }[];
  };
  const times = new Map<string, string>();
  for (const { filename, 'upload-time': time } of files) {
    const version = /^litellm-([\d.]+)-.*\.whl$/.exec(filename)?.[1];
    const second = `${time.slice(0, 'YYYY-MM-DDTHH:mm:ss'.length)}Z`;
    if (version !== undefined && second < (times.get(version) ?? '9')) times.set(version, second);
  }
  return times;
}

/**
 * A row for each release that changed a number of a model. A blank number is the same as before, or is not there. The facts are
 * those of the release. Newest first, because a market takes its facts from its first row.
 *
 * @throws Error if a field of a model disappears: blank would hide that
 */
async function sampleCsv(folder: string): Promise<string> {
  const times = await uploadTimes();
  const known = new Map<string, string>();
  const rows: string[] = [];
  for (const version of RELEASES) {
    const models = readMap(mapOfRelease(folder, version));
    for (const name of MODELS) {
      const cells = FIELDS.map((field) => {
        const place = `${name} ${field}`;
        const digits = models[name]?.[field];
        if (digits === undefined && known.has(place)) throw new Error(`${version} has lost ${place}`);
        if (digits === undefined || digits === known.get(place)) return '';
        known.set(place, digits);
        return digits;
      });
      if (cells.every((cell) => cell === '')) continue;
      const facts = FACTS.map((fact) => models[name]?.[fact]);
      rows.push(csvRecord([times.get(version), version, name, ...cells, ...facts]));
    }
  }
  return `${[['released', 'version', 'model', ...FIELDS, ...FACTS].join(','), ...rows.reverse()].join('\n')}\n`;
}

if (import.meta.main) {
  const usage = 'usage: node tools/build/build-models-sample.ts FOLDER';
  const [folder, ...others] = readCommandLine(usage, {}, 'words').positionals;
  if (folder === undefined || others.length > 0) refuseArguments('Name one folder for the maps', usage);
  writeFileSync(SAMPLE, await sampleCsv(folder));
}
