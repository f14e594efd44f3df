// The interface reference: OpenAPI 3.1 from the routes' own schemas, so that it cannot differ from what is checked.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { FastifySchema } from 'fastify';
import type { Route } from './route.ts';

export function openApiOptions(publicUrl: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Heliograph',
        description: 'IoT device data platform: capture, decode, store, query and stream what devices send.',
        version: '3',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
          bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        },
      },
    },
    hideUntagged: true,
  };
}

const errorSchema = {
  type: 'object',
  properties: {
    timestamp: { type: 'string', format: 'date-time' },
    path: { type: 'string' },
    status: { type: 'integer' },
    error: { type: 'string' },
    message: { type: 'string' },
    requestId: { type: 'string' },
    errorId: { type: 'string' },
    traceId: { type: 'string' },
    errorCode: { type: 'string' },
  },
};

function described(response: object): object {
  return { description: 'Done', ...response };
}

function needsOf({ scope, verb, also = [] }: Extract<Route['access'], { readonly scope: unknown }>): string {
  return `Needs ${[[scope, verb] as const, ...also].map(([of, to]) => `\`${of}\` \`${to}\``).join(' and ')}.`;
}

/** What the reference says of one route. */
export function swaggerSchema(route: Route): FastifySchema & Record<string, unknown> {
  const guarded = !('open' in route.access);
  const permission = 'scope' in route.access ? needsOf(route.access) : undefined;
  const nothingToSay = route.response === undefined && route.method === 'DELETE';
  const success = route.status ?? (nothingToSay ? 204 : 200);
  return {
    tags: [route.tag],
    summary: route.summary,
    ...(permission === undefined ? {} : { description: permission }),
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.bodyShown ?? route.body }),
    security: guarded ? [{ apiKey: [] }, { bearer: [] }] : [],
    response: {
      [success]: route.response === undefined ? { description: 'Done', type: 'null' } : described(route.response),
      '4XX': { description: 'Refused; `message` says why and `errorCode` is stable.', ...errorSchema },
    },
  };
}
