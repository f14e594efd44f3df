// Endpoints of script runs (interface 4.8).
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { payloadEncodings } from '../model/device-type.ts';
import { payloadBytesMax } from '../model/payload.ts';
import { endpoint } from './endpoint.ts';
import { oneOf, optional } from './record-fields.ts';

// A source and an event of 1 MiB each, escaped in JSON at worst sixfold, still fit.
const bodyBytesMax = 12 * 1024 * 1024;

export const scriptPayload = Type.Object(
  {
    hex: Type.Optional(
      Type.String({
        pattern: '^(?:[0-9a-fA-F]{2})*$',
        maxLength: 2 * payloadBytesMax,
        description: 'Bytes of the payload as hexadecimal digits. Send `hex` or `text`.',
      }),
    ),
    text: Type.Optional(
      Type.String({ maxLength: payloadBytesMax, description: 'The payload as text.' }),
    ),
    encoding: Type.Optional(
      Type.Union([oneOf(payloadEncodings), Type.Null()], {
        description: 'Declared encoding. Defaults to reading the payload by its content.',
      }),
    ),
    contentType: optional(Type.String({ description: 'Content type that the device would name.' })),
    port: optional(Type.Integer({ minimum: 0, maximum: 255, description: 'Port of the payload.' })),
  },
  { description: 'Payload that is read as one of a device and becomes `event.data`.' },
);

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
      payload: Type.Optional(scriptPayload),
    }),
    response: Type.Array(Type.Object({ type: Type.String(), event: Type.Unsafe<Json>({}) })),
    bodyBytesMax,
  }),
} as const;
