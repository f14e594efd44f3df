// Health and metrics: what a supervisor, a load balancer and Prometheus ask; open, because they hold no customer data.
import Type from 'typebox';
import { namedObject } from '../../contract/named.ts';
import { Answer, openRoute, type Route } from '../edge/route.ts';

const health = namedObject('Health', {
  status: Type.Union([Type.Literal('UP'), Type.Literal('DOWN')]),
  reason: Type.Optional(Type.String()),
  notes: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What an operator should know although requests are served.',
    }),
  ),
});

export interface HealthParts {
  /** Undefined when ready, else why not. */
  readonly notReadyBecause: () => string | undefined;
  /** What an operator should know although requests are served. */
  readonly notes: () => readonly string[];
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export function healthRoutes(parts: HealthParts): readonly Route[] {
  return [
    openRoute({
      method: 'GET',
      path: '/health/live',
      summary: 'Whether the process runs',
      tag: 'Operation',
      access: { open: 'a supervisor has no credential' },
      response: health,
      handle: () => ({ status: 'UP' as const }),
    }),
    openRoute({
      method: 'GET',
      path: '/health/ready',
      summary: 'Whether requests are served: 200, else 503 with the reason',
      tag: 'Operation',
      access: { open: 'a load balancer has no credential' },
      response: health,
      otherAnswers: { 503: health },
      handle: () => {
        const reason = parts.notReadyBecause();
        const notes = parts.notes();
        const noted = notes.length === 0 ? {} : { notes: [...notes] };
        if (reason === undefined) return { status: 'UP' as const, ...noted };
        return new Answer(503, { status: 'DOWN' as const, reason, ...noted });
      },
    }),
    openRoute({
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text format of Prometheus',
      tag: 'Operation',
      access: {
        open: 'counts and durations only; an operator who wants them hidden does so in the proxy',
      },
      answerTypes: { 'text/plain': Type.String() },
      handle: async () => {
        const { contentType, text } = await parts.metrics();
        return new Answer(200, text, { 'content-type': contentType });
      },
    }),
  ];
}
