// The interface reference: OpenAPI 3.1 from the routes' own schemas, so that it cannot differ from what is checked.
import { sessionCookie } from '../../access/session-authenticator.ts';
import { errorSchema } from '../../contract/error.ts';
import { documentPath, operationOf } from './open-api-operation.ts';
import { componentSchemas } from './open-api-schemas.ts';
import type { Route } from './route.ts';

const description = `IoT device data platform: capture, decode, store, query and stream what devices send.

Samples are streamed live over the WebSocket at \`/v3/data-streams\`. Every GET is answered to HEAD as well, without a body.`;

/** The whole document; throws when two routes or schemas have the same name. */
export function openApiDocument(
  routes: readonly Route[],
  publicUrl: string,
): Readonly<Record<string, unknown>> {
  const schemas = componentSchemas();
  const paths: Record<string, Record<string, unknown>> = {};
  const ids = new Set<unknown>();
  for (const route of routes) {
    const operation = operationOf(route, schemas.refer);
    const { operationId } = operation;
    if (ids.has(operationId))
      throw new Error(`Two routes have the operation id ${String(operationId)}`);
    ids.add(operationId);
    const path = (paths[documentPath(route.path)] ??= {});
    path[route.method.toLowerCase()] = operation;
  }
  const refused = { 'application/json': { schema: schemas.refer(errorSchema) } };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      description,
      version: '3',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(routes.map(({ tag }) => tag))].sort().map((name) => ({ name })),
    paths,
    components: {
      schemas: schemas.all(),
      responses: {
        Refused: {
          description: 'Refused; `message` says why and `errorCode` is stable.',
          content: refused,
        },
        Failed: { description: 'Failed; the same request may succeed later.', content: refused },
      },
      parameters: { IdempotencyKey: idempotencyKey },
      securitySchemes,
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same key within 24 hours makes nothing twice: it returns the first answer',
  schema: { type: 'string' },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: sessionCookie,
    description: 'Set by POST /v3/auth/login',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'x-csrf-token',
    description: 'The `csrfToken` of the login answer, for every request by session that is no GET',
  },
  uplinkSecret: { type: 'apiKey', in: 'header', name: 'x-uplink-secret' },
  uplinkSecretParameter: { type: 'apiKey', in: 'query', name: 'secret' },
};
