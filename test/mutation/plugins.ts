/** What Stryker is told about this project: which mutants are in the sample, and which texts no test reads. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant } from '@stryker-mutator/api/core';
import type { Ignorer } from '@stryker-mutator/api/ignore';
import { declareClassPlugin, declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Set by tools/test/mutate.ts: the share of the mutants that are tried, from 0 to 1, and the seed that chooses them. */
export const SHARE = 'TIDEMARK_MUTATION_SHARE';
export const SEED = 'TIDEMARK_MUTATION_SEED';

const ROOT = `${import.meta.dirname}/../..`;
/** Properties, variables and calls whose texts are for people. */
const TEXTS = new Set(['detail', 'hint', 'title', 'description', 'message', 'summary', 'remedy', 'describe', 'meta']);
/** Functions that make a text for people and nothing else, such as `quantityComment`. */
const TEXT_FUNCTION = /^(describe|why|hintOf)[A-Z]|(Comment|InWords)$/;
/** Functions such as `urlFault`. A text with a space that they return is for people. */
const RESULT_FUNCTION = /Fault$/;
/** Calls that make a refusal or a finding. An argument with a space is its text: codes and pointers have none. */
const FAULT_CALLS = new Set(['refuse', 'refused', 'refusedPart', 'fault', 'damaged', 'add', '#add', 'fork']);

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
  /** Of a list, the place in it: the third argument of a call has 2. */
  readonly key: string | number | null;
  readonly listKey: string | null;
  get(name: 'callee' | 'key' | 'id'): { toString(): string };
  toString(): string;
}

/** No test asserts on the text of a message. */
const messages: Ignorer = {
  shouldIgnore(path: unknown) {
    const found = path as Path;
    if (found.node.type !== 'StringLiteral' && found.node.type !== 'TemplateLiteral') return undefined;
    const hasWords = /\S \S/.test(found.toString());
    let isReturned = false;
    for (let at: Path | null = found; at !== null; at = at.parentPath) {
      if (isMessage(at) || (hasWords && isFaultIn(at, isReturned))) return 'the text of a message';
      isReturned ||= at.node.type === 'ReturnStatement';
    }
    return undefined;
  },
};

function lastName(path: Path, name: 'callee' | 'key' | 'id'): string {
  return path.get(name).toString().split('.').at(-1) ?? '';
}

function isMessage(path: Path): boolean {
  // The comment of a field of a drafted mapping.
  if (path.listKey === 'arguments' && path.key === 2 && path.parentPath !== null) {
    if (lastName(path.parentPath, 'callee') === 'field') return true;
  }
  switch (path.node.type) {
    case 'NewExpression':
      return /(Error|Refused)$/.test(lastName(path, 'callee'));
    case 'ClassProperty':
      return lastName(path, 'key') === 'name';
    case 'ObjectProperty':
      return TEXTS.has(lastName(path, 'key'));
    case 'CallExpression':
      return TEXTS.has(lastName(path, 'callee'));
    case 'VariableDeclarator':
      return TEXTS.has(lastName(path, 'id'));
    case 'FunctionDeclaration':
      return TEXT_FUNCTION.test(lastName(path, 'id'));
    default:
      return false;
  }
}

function isFaultIn(path: Path, isReturned: boolean): boolean {
  // Of a schema: `{ error: 'must be …' }`.
  if (path.node.type === 'ObjectProperty') return lastName(path, 'key') === 'error';
  // Of an error, whatever its name is.
  if (path.node.type === 'NewExpression') return lastName(path, 'callee') !== 'RegExp';
  if (path.node.type === 'CallExpression') return FAULT_CALLS.has(lastName(path, 'callee'));
  return isReturned && path.node.type === 'FunctionDeclaration' && RESULT_FUNCTION.test(lastName(path, 'id'));
}

export const strykerPlugins = [
  declareClassPlugin(PluginKind.Checker, 'sample', SampleChecker),
  declareValuePlugin(PluginKind.Ignore, 'messages', messages),
];
