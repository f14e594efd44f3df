// Endpoints of health and metrics.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';

const healthSchema = namedObject('Health', {
  status: Type.Union([Type.Literal('UP'), Type.Literal('DOWN')]),
  reason: Type.Optional(Type.String()),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Warnings while the platform is ready.',
    }),
  ),
});

export const health = {
  live: endpoint({
    method: 'GET',
    path: '/health/live',
    summary: 'Liveness probe',
    description: 'Returns 200 while the process is running.',
    tag: 'Operation',
    access: { open: 'No authentication.' },
    response: healthSchema,
  }),
  ready: endpoint({
    method: 'GET',
    path: '/health/ready',
    summary: 'Readiness probe',
    description: 'Returns 200 when the platform can serve requests, or 503 with the reason.',
    tag: 'Operation',
    access: { open: 'No authentication.' },
    response: healthSchema,
    otherAnswers: { 503: healthSchema },
  }),
  metrics: endpoint({
    method: 'GET',
    path: '/metrics',
    summary: 'Get Prometheus metrics',
    description: 'Returns counters, gauges, and histograms in the Prometheus text format.',
    tag: 'Operation',
    access: {
      open: 'No authentication, unless METRICS_TOKEN is set.',
    },
    answerTypes: { 'text/plain': Type.String() },
  }),
} as const;
