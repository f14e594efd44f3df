// Problems of intakes that other products' senders use: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const intakeProblems = {
  precisionUnknown: {
    status: 400,
    code: '40077_PRECISION_UNKNOWN',
    message: (d: { precision: string }) =>
      `invalid precision ${JSON.stringify(d.precision)} (use n, ns, u, us, ms, s, m or h)`,
  },
  statementUnsupported: {
    status: 400,
    code: '40078_STATEMENT_UNSUPPORTED',
    message:
      'Only CREATE DATABASE, which changes nothing, SHOW DATABASES and SHOW RETENTION POLICIES are answered here; samples are read below /v3',
  },
  senmlInvalid: {
    status: 400,
    code: '40079_SENML_INVALID',
    message: (d: { reason: string }) => `The body is not a valid SenML pack: ${d.reason}`,
  },
  lineProtocolOff: {
    status: 403,
    code: '40373_LINE_PROTOCOL_OFF',
    message:
      'Line protocol is not enabled on this device connector. Set its lineProtocol property.',
  },
  createdDevicesMax: {
    status: 403,
    code: '40371_CREATED_DEVICES_MAX',
    message: (d: { devicesMax: number }) =>
      `The data flow has ${d.devicesMax} devices, the maximum for devices created by its connector`,
  },
  createdDevicesWithoutFlow: {
    status: 403,
    code: '40372_CREATED_DEVICES_WITHOUT_FLOW',
    message: 'The device connector cannot create devices because no data flow uses it',
  },
  pointsTooMany: {
    status: 413,
    code: '41370_POINTS_TOO_MANY',
    message: (d: { pointsMax: number }) =>
      `The body contains more than ${d.pointsMax} samples. Split it into smaller requests.`,
  },
} as const satisfies Record<string, ProblemRow>;
