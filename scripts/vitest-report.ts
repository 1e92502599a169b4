/**
 * A Vitest reporter for `scripts/test.ts`: sends the progress ({@link TestProgress}) to the parent process, and writes
 * a {@link TestReport} to the file that its environment names.
 */
import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The environment variable that names the file. */
export const REPORT_FILE_VARIABLE = 'TIDEMARK_TEST_REPORT';

export interface TestReport {
  readonly passed: number;
  /** Failed tests, and failures outside a test: a file that does not load, a hook, an unhandled rejection. */
  readonly failed: number;
  readonly skipped: readonly SkippedTest[];
  /** Texts of tests for people, by `context.annotate`: mostly measurements. */
  readonly notes: readonly string[];
}

export interface TestProgress {
  /** Files whose tests have all ended. */
  readonly files: number;
  readonly ofFiles: number;
  /** Tests that have passed so far. */
  readonly passed: number;
}

/** The minimum time between two messages. */
const TELL_EVERY_MS = 250;

export interface SkippedTest {
  readonly name: string;
  /** The reason given to `context.skip`; null for tests whose names say when they are skipped. */
  readonly reason: string | null;
}

/** Vitest makes an instance of a reporter file's default export. */
export default class VitestReport implements Reporter {
  #progress: TestProgress = { files: 0, ofFiles: 0, passed: 0 };
  #toldMs = Number.NEGATIVE_INFINITY;

  onTestRunStart(files: readonly unknown[]): void {
    this.#tell({ ofFiles: files.length });
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'passed') this.#tell({ passed: this.#progress.passed + 1 });
  }

  onTestModuleEnd(): void {
    this.#tell({ files: this.#progress.files + 1 });
  }

  #tell(news: Partial<TestProgress>): void {
    this.#progress = { ...this.#progress, ...news };
    if (performance.now() - this.#toldMs < TELL_EVERY_MS) return;
    this.#toldMs = performance.now();
    process.send?.(this.#progress);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const report = { passed: 0, failed: unhandledErrors.length, skipped: [] as SkippedTest[], notes: [] as string[] };
    for (const module of modules) {
      for (const suite of [module, ...module.children.allSuites()]) report.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        report.notes.push(...test.annotations().map(({ message }) => message));
        if (result.state === 'passed') report.passed++;
        else if (result.state === 'skipped') {
          report.skipped.push({
            name: `${module.relativeModuleId} > ${test.fullName}`,
            reason: result.note ?? null,
          });
        } else report.failed++;
      }
    }
    const file = process.env[REPORT_FILE_VARIABLE];
    if (file !== undefined) writeFileSync(file, JSON.stringify(report satisfies TestReport));
  }
}
