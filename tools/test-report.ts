// The totals of a test run, counted so that nothing that went wrong counts as nothing.

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Passed and failed of a JSON report of the test runner. A file that fails outside its tests counts
 * as one failure. An error outside any test is not in the report and shows only in how the runner
 * ended (`succeeded`): it counts as one failure too, and so does a run without tests.
 */
export function testTotals(
  reportText: string,
  succeeded: boolean,
): { readonly passed: number; readonly failed: number } {
  const report = JSON.parse(reportText) as Report;
  const brokenFiles = report.testResults.filter(
    (file) =>
      file.status === 'failed' &&
      !file.assertionResults.some((result) => result.status === 'failed'),
  );
  const named = report.numFailedTests + brokenFiles.length;
  const unnamed = named === 0 && (!succeeded || report.numPassedTests === 0) ? 1 : 0;
  return { passed: report.numPassedTests, failed: named + unnamed };
}
