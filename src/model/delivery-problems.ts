// Problems of targets, templates and deliveries: rows of the table in problem.ts.

export const deliveryProblems = {
  egressRefused: {
    status: 400,
    code: '40080_EGRESS_REFUSED',
    message: (d: { host: string; reason: string }) =>
      `${d.host} may not be connected to: ${d.reason} address; the operator can allow ranges with EGRESS_ALLOW`,
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
      `The filled-in template is longer than ${d.charactersMax} characters`,
  },
  urlSegmentRefused: {
    status: 400,
    code: '40082_URL_SEGMENT_REFUSED',
    message: (d: { segment: string }) =>
      `A value would make ${d.segment} a segment of the URL's path`,
  },
  outputNotAvailable: {
    status: 400,
    code: '40011_OUTPUT_NOT_AVAILABLE',
    message: (d: { type: string; available: readonly string[] }) =>
      `Output connectors of type ${d.type} cannot be made: this installation does not deliver to them; it delivers to ${d.available.length === 0 ? 'the global database connector alone' : d.available.join(', ')}`,
  },
  outputNotConfigured: {
    status: 409,
    code: '40980_OUTPUT_NOT_CONFIGURED',
    message: (d: { type: string; setting: string }) =>
      `Output connectors of type ${d.type} cannot be made: the operator has not set ${d.setting}`,
  },
} as const;
