// OpenAPI 3.1 document, from the schemas of the endpoints, which the server checks as well.
import { cookieNames } from '../../access/session-authenticator.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { errorSchema } from '../../contract/error.ts';
import { documentPath, type OperationExamples, operationOf } from './open-api-operation.ts';
import { createComponentSchemas } from './open-api-schemas.ts';
import { tagDescriptions } from './open-api-tags.ts';
import { withFieldWords } from './open-api-words.ts';

const description = `IoT device data platform that ingests, decodes, stores, queries, and streams device data.

Live samples are available over the WebSocket at \`/v3/data-streams\`. Every GET endpoint also supports HEAD.`;

/**
 * The whole document; throws when two endpoints or schemas have the same name. `examples` are by
 * operation id, from `npm run examples`.
 */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  examples: OperationExamples = {},
): Readonly<Record<string, unknown>> {
  const schemas = createComponentSchemas();
  const refer = (schema: unknown) => withFieldWords(schemas.refer(schema));
  const paths: Record<string, Record<string, unknown>> = {};
  const ids = new Set<unknown>();
  for (const endpoint of endpoints) {
    const operation = operationOf(endpoint, refer, examples);
    const { operationId } = operation;
    if (ids.has(operationId))
      throw new Error(`Two endpoints have the operation id ${String(operationId)}`);
    ids.add(operationId);
    const path = (paths[documentPath(endpoint.path)] ??= {});
    path[endpoint.method.toLowerCase()] = operation;
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
    // Relative, so that requests go to the address that the reader uses.
    servers: [{ url: '/', description: 'The platform that serves this document' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))]
      .sort()
      .map((name) => ({ name, description: tagDescriptions[name] ?? '' })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas.all()).map(([name, schema]) => [name, withFieldWords(schema, name)]),
      ),
      responses: {
        Refused: {
          description: 'Rejected. `message` says why, and `errorCode` is stable.',
          content: refused,
        },
        Failed: { description: 'Failed. The same request can succeed later.', content: refused },
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
  description:
    'Key that makes a retry safe. Within 24 hours, a request with the same key returns the first response and creates nothing.',
  schema: { type: 'string' },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieNames(false).session,
    description:
      'Session cookie, set by `POST /v3/auth/login`. Over https its name is `__Host-session`.',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'x-csrf-token',
    description:
      'The `csrfToken` of the sign-in response. Required in every request by session other than GET.',
  },
  uplinkSecret: { type: 'apiKey', in: 'header', name: 'x-uplink-secret' },
  uplinkSecretParameter: { type: 'apiKey', in: 'query', name: 'secret' },
};
