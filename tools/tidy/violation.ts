// A violation: one place where a file breaks a house rule, and what to do about it.

export interface Violation {
  /** From the project's root. */
  readonly path: string;
  /** One-based; absent when the whole file is meant. */
  readonly line?: number;
  readonly message: string;
}

/** `path:line: message`, as editors and terminals link it. */
export function violationText(violation: Violation): string {
  return `${violation.path}${violation.line === undefined ? '' : `:${violation.line}`}: ${violation.message}`;
}
