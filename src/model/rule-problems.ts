// Problems of rules and custom logic: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const ruleProblems = {
  ruleInvalid: {
    status: 400,
    code: '40076_RULE_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  mutesFull: {
    status: 409,
    code: '40978_MUTES_FULL',
    message: (d: { max: number }) =>
      `The workspace has ${d.max} mutes that are not over, the maximum. Delete one and retry.`,
  },
  onCallFull: {
    status: 409,
    code: '40979_ON_CALL_FULL',
    message: (d: { max: number }) =>
      `The workspace has ${d.max} on-call orders, the maximum. Delete one and retry.`,
  },
  calculationInvalid: {
    status: 400,
    code: '40088_CALCULATION_INVALID',
    message: (d: { field: string; reason: string }) => `body ${d.field}: ${d.reason}`,
  },
  customLogicInUse: {
    status: 409,
    code: '40972_CUSTOM_LOGIC_IN_USE',
    message: (d: { users: readonly string[] }) =>
      `Data sources and properties of custom logic cannot change while active rules use it: ${d.users.join(', ')}`,
  },
  usualKeysFull: {
    status: 409,
    code: '40976_TOO_MANY_USUAL_KEYS',
    message: (d: { keys: number; keysMax: number }) =>
      `Active rules of the workspace would ask for ${d.keys} keys of devices what is unusual; the maximum is ${d.keysMax}. ` +
      'Use fewer devices or keys, or deactivate another rule.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of alarms: rows of the table in problem.ts.

export const alarmProblems = {
  alarmCleared: {
    status: 409,
    code: '40974_ALARM_CLEARED',
    message: (d: { id: string }) => `Alarm ${d.id} is already cleared`,
  },
  alarmCommentsFull: {
    status: 409,
    code: '40975_ALARM_COMMENTS_FULL',
    message: (d: { id: string; commentsMax: number }) =>
      `Alarm ${d.id} has ${d.commentsMax} comments, the maximum`,
  },
} as const;

// Problems of targets, templates and deliveries: rows of the table in problem.ts.

export const deliveryProblems = {
  egressRefused: {
    status: 400,
    code: '40080_EGRESS_REFUSED',
    message: (d: { host: string; reason: string }) =>
      `Connections to ${d.host} are blocked because it is a ${d.reason} address. The operator can allow ranges with EGRESS_ALLOW.`,
  },
  templateInvalid: {
    status: 400,
    code: '40081_TEMPLATE_INVALID',
    message: (d: {
      where: string;
      reason: string;
      expression?: string;
      position?: number;
      line?: number;
      column?: number;
    }) => `${d.where}: ${d.reason}`,
  },
  templateTooLarge: {
    status: 413,
    code: '41380_TEMPLATE_TOO_LARGE',
    message: (d: { charactersMax: number }) =>
      `The rendered template exceeds ${d.charactersMax} characters`,
  },
  urlSegmentRefused: {
    status: 400,
    code: '40082_URL_SEGMENT_REFUSED',
    message: (d: { segment: string }) =>
      `A template value would change the URL path (segment ${d.segment})`,
  },
  outputNotAvailable: {
    status: 400,
    code: '40011_OUTPUT_NOT_AVAILABLE',
    message: (d: { type: string; available: readonly string[] }) =>
      `Output connectors of type ${d.type} are not available on this installation. Available types: ${d.available.length === 0 ? 'none but the built-in database connector' : d.available.join(', ')}.`,
  },
  outputNotConfigured: {
    status: 409,
    code: '40980_OUTPUT_NOT_CONFIGURED',
    message: (d: { type: string; setting: string }) =>
      `Output connectors of type ${d.type} are not configured. The operator must set ${d.setting}.`,
  },
} as const;
