// Endpoints of health and metrics.
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import { namedObject } from '../named.ts';

const healthSchema = namedObject('Health', {
  status: Type.Union([Type.Literal('UP'), Type.Literal('DOWN')]),
  reason: Type.Optional(Type.String()),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What an operator should know although requests are served.',
    }),
  ),
});

export const health = {
  live: endpoint({
    method: 'GET',
    path: '/health/live',
    summary: 'Whether the process runs',
    tag: 'Operation',
    access: { open: 'a supervisor has no credential' },
    response: healthSchema,
  }),
  ready: endpoint({
    method: 'GET',
    path: '/health/ready',
    summary: 'Whether requests are served: 200, else 503 with the reason',
    tag: 'Operation',
    access: { open: 'a load balancer has no credential' },
    response: healthSchema,
    otherAnswers: { 503: healthSchema },
  }),
  metrics: endpoint({
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics in the text format of Prometheus',
    tag: 'Operation',
    access: {
      open: 'counts and durations only; an operator who wants them hidden does so in the proxy',
    },
    answerTypes: { 'text/plain': Type.String() },
  }),
} as const;
