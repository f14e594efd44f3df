// Endpoints of script runs (interface 4.8).
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { endpoint } from './endpoint.ts';

// A source and an event of 1 MiB each, escaped in JSON at worst sixfold, still fit.
const bodyBytesMax = 12 * 1024 * 1024;

export const scripts = {
  run: endpoint({
    method: 'POST',
    path: '/v3/run-script',
    summary: 'Run a script once',
    description:
      'Runs a script on the given event and returns what it emits; script errors are returned as `ERROR` entries with status 200.',
    tag: 'Scripts',
    access: { scope: 'deviceType', verb: 'read', resource: 'handler' },
    body: Type.Object({
      script: Type.String({ description: 'JavaScript source with a function consume(event).' }),
      event: Type.Optional(
        Type.Unsafe<Json>({
          description: 'Argument of `consume`, usually `{data, timestamp}`.',
        }),
      ),
    }),
    response: Type.Array(Type.Object({ type: Type.String(), event: Type.Unsafe<Json>({}) })),
    bodyBytesMax,
  }),
} as const;
