// The last line of a test run: how many suites were skipped, and the missing programs that they need.
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

export class SkippedSuites implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const suites = modules.flatMap((module) => [...module.children.allSuites()]);
    const line = skippedSuitesLine(suites.map(missingProgramOf));
    if (line !== undefined) console.log(line);
  }
}

function missingProgramOf(suite: TestSuite): string | undefined {
  return suite.meta().missingProgram;
}

/** Returns the line for suites with the program that each lacks, or undefined without such a suite. */
export function skippedSuitesLine(missing: readonly (string | undefined)[]): string | undefined {
  const programs = missing.filter((program) => program !== undefined);
  if (programs.length === 0) return undefined;
  const suites = programs.length === 1 ? '1 suite' : `${programs.length} suites`;
  const names = [...new Set(programs)].toSorted();
  return `${suites} skipped: ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not installed`;
}
