// The report of a test run: its totals, counted so that nothing that went wrong counts as nothing, and what was skipped.
import { relative } from 'node:path';

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[] | null;
    }[];
  }[];
}

/** Totals of a run, and a line for each failure: file, test, and the first line of the error. */
interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  /** Failures of the first run in files that passed as a whole in the second. */
  readonly unsteady: readonly string[];
}

/**
 * Passed and failed of a JSON report of the test runner. A file that fails outside its tests counts
 * as one failure. An error outside any test is not in the report and shows only in how the runner
 * ended (`succeeded`): it counts as one failure too, and so does a run without tests.
 * `second` is a run of the files that failed, alone: those that pass there count as passed and are
 * told apart.
 */
export function testTotals(
  reportText: string,
  succeeded: boolean,
  second: { readonly reportText: string; readonly succeeded: boolean } | null = null,
): Totals {
  const report = JSON.parse(reportText) as Report;
  const passedLater = new Set(second?.succeeded ? filesOf(second.reportText) : []);
  const failures: string[] = [];
  const unsteady: string[] = [];
  for (const file of report.testResults) {
    const told = passedLater.has(file.name) ? unsteady : failures;
    const failed = file.assertionResults.filter((result) => result.status === 'failed');
    if (failed.length === 0 && file.status === 'failed')
      told.push(`${file.name}: ${firstLine(file.message)}`);
    for (const { fullName, failureMessages } of failed)
      told.push(`${file.name} > ${fullName}: ${firstLine(failureMessages?.[0] ?? '')}`);
  }
  const passed = report.numPassedTests + unsteady.length;
  if (failures.length === 0 && passed === 0) failures.push('no test ran');
  else if (failures.length + unsteady.length === 0 && !succeeded)
    failures.push('the runner failed outside its tests');
  return { passed, failed: failures.length, failures, unsteady };
}

/** Paths, relative to the root, of the files that failed. */
export function failedFiles(reportText: string, root: string): readonly string[] {
  const { testResults } = JSON.parse(reportText) as Report;
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => relative(root, name));
}

function filesOf(reportText: string): readonly string[] {
  return (JSON.parse(reportText) as Report).testResults.map(({ name }) => name);
}

/** Paths, relative to the root, of the files with a skipped test. */
export function skippedFiles(reportText: string, root: string): readonly string[] {
  const { testResults } = JSON.parse(reportText) as Report;
  return testResults
    .filter(({ assertionResults }) => assertionResults.some(({ status }) => status === 'skipped'))
    .map(({ name }) => relative(root, name));
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
