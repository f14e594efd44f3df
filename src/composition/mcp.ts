// Connects the MCP server: its tools make requests to the server of this process.
import type { FastifyInstance } from 'fastify';
import type { Parts } from './platform-parts.ts';
import type { Route } from '../http/edge/route.ts';
import { mcpRoutes } from '../http/routes/mcp.ts';
import type { McpHandler } from '../http/mcp/mcp-handler.ts';
import { missing } from '../structures/missing.ts';
import { programVersion } from '../telemetry/build-info.ts';

export interface ComposedMcp {
  readonly routes: readonly Route[];
  /** Call with the server before the first request. */
  readonly useServer: (server: FastifyInstance) => void;
}

/** Without routes when it is switched off. */
export function composeMcp({ config, address, telemetry, turns }: Parts): ComposedMcp {
  let server: FastifyInstance | undefined;
  let handler: Promise<McpHandler> | undefined;
  const failed = (error: unknown) => telemetry.backgroundFailed('answering an assistant', error);
  const open = async () => {
    const { createMcpHandler } = await import('../http/mcp/mcp-handler.ts');
    return createMcpHandler({ version: programVersion(), failed });
  };
  const routes = mcpRoutes({
    turns,
    handler: () => (handler ??= open()),
    async send(method, url, headers, body) {
      const target = server ?? missing('server of the assistants');
      const payload = body !== undefined && { payload: body };
      const answer = await target.inject({ method, url, headers, ...payload });
      return { status: answer.statusCode, body: answer.body };
    },
    publicUrl: address.url,
    corsOrigins: config.corsOrigins,
  });
  return {
    routes: config.mcp ? routes : [],
    useServer: (composed) => void (server = composed),
  };
}
