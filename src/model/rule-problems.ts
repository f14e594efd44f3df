// Problems of rules and custom logic: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const ruleProblems = {
  ruleInvalid: {
    status: 400,
    code: '40076_RULE_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  customLogicInUse: {
    status: 409,
    code: '40972_CUSTOM_LOGIC_IN_USE',
    message: (d: { users: readonly string[] }) =>
      `Data sources and properties of custom logic cannot change while active rules use it: ${d.users.join(', ')}`,
  },
} as const satisfies Record<string, ProblemRow>;
