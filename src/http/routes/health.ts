// Routes of health and metrics; open, because they contain no customer data.
import { health } from '../../contract/health.ts';
import { Answer, type Route, route } from '../edge/route.ts';

export interface HealthParts {
  /** Undefined when ready, else why not. */
  readonly notReadyBecause: () => string | undefined;
  /** Warnings for the operator while requests are served. */
  readonly notes: () => readonly string[];
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

export function healthRoutes(parts: HealthParts): readonly Route[] {
  return [
    route(health.live, () => ({ status: 'UP' as const })),
    route(health.ready, () => {
      const reason = parts.notReadyBecause();
      const notes = parts.notes();
      const noted = notes.length > 0 && { notes: [...notes] };
      if (reason === undefined) return { status: 'UP' as const, ...noted };
      return new Answer(503, { status: 'DOWN' as const, reason, ...noted });
    }),
    route(health.metrics, async () => {
      const { contentType, text } = await parts.metrics();
      return new Answer(200, text, { 'content-type': contentType });
    }),
  ];
}
