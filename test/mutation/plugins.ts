/** What Stryker is told about this project: which mutants are in the sample, and which texts no test reads. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant } from '@stryker-mutator/api/core';
import type { Ignorer } from '@stryker-mutator/api/ignore';
import { declareClassPlugin, declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Set by scripts/mutate.ts: the share of the mutants that are tried, from 0 to 1, and the seed that chooses them. */
export const SHARE = 'TIDEMARK_MUTATION_SHARE';
export const SEED = 'TIDEMARK_MUTATION_SEED';

const ROOT = `${import.meta.dirname}/../..`;
/** Properties and calls whose texts are for people. */
const TEXTS = new Set(['detail', 'hint', 'title', 'description', 'message', 'summary', 'remedy', 'describe', 'meta']);

/**
 * Chooses each mutant by a digest of what it is, so the same seed chooses the same mutants while other code changes. Stryker
 * leaves a mutant out when a checker says that it does not compile.
 */
class SampleChecker {
  readonly #share = Number(process.env[SHARE] ?? '1');
  readonly #seed = process.env[SEED] ?? '';

  async init(): Promise<void> {}

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    return Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#resultOf(mutant)]));
  }

  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  #resultOf({ fileName, mutatorName, location, replacement }: Mutant): CheckResult {
    const { start, end } = location;
    const text = [this.#seed, relative(ROOT, fileName), mutatorName, start.line, start.column, end.line, end.column];
    const digest = createHash('sha256')
      .update([...text, replacement].join('\n'))
      .digest();
    if (digest.readUInt32BE() / 2 ** 32 < this.#share) return { status: CheckStatus.Passed };
    return { status: CheckStatus.CompileError, reason: 'not in the sample' };
  }
}

/** A path of Babel's tree, as far as it is needed; @types/babel__traverse has the rest. */
interface Path {
  readonly node: { readonly type: string };
  readonly parentPath: Path | null;
  get(name: 'callee' | 'key'): { toString(): string };
}

/** No test asserts on the text of a message. */
const messages: Ignorer = {
  shouldIgnore(path: unknown) {
    const found = path as Path;
    if (found.node.type !== 'StringLiteral' && found.node.type !== 'TemplateLiteral') return undefined;
    for (let at = found.parentPath; at !== null; at = at.parentPath) {
      if (isMessage(at)) return 'the text of a message';
    }
    return undefined;
  },
};

function isMessage(path: Path): boolean {
  const lastName = (name: 'callee' | 'key') => path.get(name).toString().split('.').at(-1) ?? '';
  if (path.node.type === 'NewExpression') return lastName('callee').endsWith('Error');
  if (path.node.type === 'ObjectProperty') return TEXTS.has(lastName('key'));
  return path.node.type === 'CallExpression' && TEXTS.has(lastName('callee'));
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.Checker, 'sample', SampleChecker),
  declareValuePlugin(PluginKind.Ignore, 'messages', messages),
];
