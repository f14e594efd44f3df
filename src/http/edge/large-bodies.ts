// Large bodies: parsed in many turns of the event loop, or left to routes that read them as a stream.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseLargeJsonBody } from './json-body.ts';
import { routeOf } from './request-state.ts';
import { bytesOf, streamedBody, withBodyRead } from './streamed-body.ts';

/** Reads bodies of the type up to the route's `bodyBytesMax`; `came` is told their bytes. */
export function readLargeBodies(
  app: FastifyInstance,
  type: RegExp,
  came: (request: FastifyRequest, bytes: number) => void,
): void {
  app.removeContentTypeParser(type);
  app.addContentTypeParser(type, async (request: FastifyRequest) => {
    const bytes = await withBodyRead(
      bytesOf(streamedBody(request.raw, routeOf(request)?.bodyBytesMax)),
      request.raw,
    );
    came(request, bytes.length);
    return parseLargeJsonBody(bytes);
  });
}

/** Routes that read their body themselves are given it unread. */
export function leaveBodies(app: FastifyInstance, type: RegExp | string): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(type, (_request, _payload, done) => done(null));
  // Some senders name no type with an empty header, which the framework refuses.
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    if (headers['content-type'] === '') delete headers['content-type'];
  });
}
