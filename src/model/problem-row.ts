// Problem row: the status, the code and the message of one problem.

export interface ProblemRow {
  readonly status: number;
  /** `<status><two digits>_<NAME>`, never reused with another meaning (contract 0.2). */
  readonly code: string;
  readonly message: string | ((details: never) => string);
}
