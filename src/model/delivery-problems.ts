// Refusals of what goes out: targets, templates, deliveries; rows of the catalogue in problem.ts.

export const deliveryProblems = {
  egressRefused: {
    status: 400,
    code: '40080_EGRESS_REFUSED',
    message: (d: { host: string; reason: string }) =>
      `${d.host} may not be connected to: ${d.reason} address; the operator can allow ranges with EGRESS_ALLOW`,
  },
} as const;
