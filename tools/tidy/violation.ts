// A breach: one place where a file breaks a house rule, and what to do about it.

export interface Breach {
  /** From the project's root. */
  readonly path: string;
  /** One-based; absent when the whole file is meant. */
  readonly line?: number;
  readonly message: string;
}

/** `path:line: message`, as editors and terminals link it. */
export function breachText(breach: Breach): string {
  return `${breach.path}${breach.line === undefined ? '' : `:${breach.line}`}: ${breach.message}`;
}
