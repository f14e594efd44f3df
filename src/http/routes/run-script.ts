// POST /v3/run-script: try a script on an event; nothing that it emits has any effect (interface 4.8, contract 16).
import Type from 'typebox';
import type { Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { guardedRoute, type Route } from '../edge/route.ts';

// A source and an event of 1 MiB each, escaped in JSON at worst sixfold, still fit.
const bodyBytesMax = 12 * 1024 * 1024;

export interface RunScriptParts {
  readonly runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<readonly { type: string; event: Json }[]>;
}

export function runScriptRoute(parts: RunScriptParts): Route {
  return guardedRoute({
    method: 'POST',
    path: '/v3/run-script',
    summary: 'Run a script once; errors of the script are ERROR entries of the answer',
    tag: 'Scripts',
    access: { scope: 'deviceType', verb: 'read', place: { narrowedByHandler: true } },
    body: Type.Object({
      script: Type.String({ description: 'JavaScript source with a function consume(event)' }),
      event: Type.Optional(
        Type.Unsafe<Json>({
          description: 'What consume is called with, usually {data, timestamp}',
        }),
      ),
    }),
    response: Type.Array(Type.Object({ type: Type.String(), event: Type.Unsafe<Json>({}) })),
    bodyBytesMax,
    handle: async ({ body, signal }, principal) => [
      ...(await parts.runScript(body.script, body.event ?? {}, principal, signal)),
    ],
  });
}
