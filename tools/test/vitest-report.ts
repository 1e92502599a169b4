/**
 * A Vitest reporter for `run-vitest.ts`: sends its progress to the parent process as text, and finally a {@link
 * TestReport}. Vitest's own JSON reporter lacks the reasons of skipped tests and errors outside of tests.
 */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export interface TestReport {
  readonly passed: number;
  /** Failed tests, and failures outside a test: a file that does not load, a hook, an unhandled rejection. */
  readonly failed: number;
  /** For each failed test: its file, its name, and the beginning of its error. */
  readonly failures: readonly string[];
  /** For each skipped test: its file, and the reason that was given to `context.skip`. */
  readonly skipped: readonly string[];
  /** Texts from tests for people, by `context.annotate`: mostly measurements. */
  readonly notes: readonly string[];
}

export default class VitestReport implements Reporter {
  #ofFiles = 0;
  #files = 0;
  #passed = 0;

  onTestRunStart(files: readonly unknown[]): void {
    this.#ofFiles = files.length;
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'passed') this.#passed++;
  }

  onTestModuleEnd(): void {
    process.send?.(`${++this.#files} of ${this.#ofFiles} files, ${this.#passed} tests passed`);
  }

  async onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const outside = suites.reduce((sum, suite) => sum + suite.errors().length, errors.length);
    const report: TestReport = {
      passed: count('passed'),
      failed: count('failed') + count('pending') + outside,
      failures: tests.flatMap((test) => {
        const { state, errors = [] } = test.result();
        if (state !== 'failed') return [];
        return [
          `${test.module.relativeModuleId} > ${test.fullName}: ${errors[0]?.message.split('\n', 1)[0]?.slice(0, 200)}`,
        ];
      }),
      skipped: tests.flatMap((test) => {
        const result = test.result();
        if (result.state !== 'skipped') return [];
        return [`${test.module.relativeModuleId}${result.note === undefined ? '' : ` (${result.note})`}`];
      }),
      notes: [...tests.flatMap((test) => test.annotations().map(({ message }) => message)), ...longest(modules)],
    };
    await new Promise((sent) => (process.send === undefined ? sent(null) : process.send(report, sent)));
  }
}

const NAMED = 15;

/** The slowest files. Only in CI, whose time is limited. */
function longest(modules: readonly TestModule[]): readonly string[] {
  if (process.env.CI !== 'true' || modules.length === 0) return [];
  const times = modules.map((module) => [module.diagnostic().duration, module.relativeModuleId] as const);
  const lines = times.sort(([a], [b]) => b - a).map(([ms, file]) => `${(ms / 1000).toFixed(0).padStart(6)} s  ${file}`);
  return [['longest files:', ...lines.slice(0, NAMED)].join('\n')];
}
