// Composes the demo workspaces: their devices are requests to the server of this process.
import type { FastifyInstance } from 'fastify';
import type { Parts } from './platform-parts.ts';
import { createDemoWorkspaces, type DemoWorkspaces } from '../flows/demo-workspaces.ts';
import { missing } from '../structures/missing.ts';

export interface ComposedDemos extends DemoWorkspaces {
  /** Call with the server before the first request. */
  readonly useServer: (server: FastifyInstance) => void;
}

export function composeDemoWorkspaces({ now, telemetry, followChanges }: Parts): ComposedDemos {
  let server: FastifyInstance | undefined;
  const demos = createDemoWorkspaces({
    async open(wanted, signal) {
      // Most platforms never need it.
      const { openWorkspaceDemo } = await import('../../clients/demo/workspace-demo.ts');
      return openWorkspaceDemo({ ...wanted, now, signal, send });
    },
    failed: (error) => telemetry.backgroundFailed('simulating the demo workspace', error),
  });
  followChanges(demos.recordChanged);

  async function send(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body: string | undefined,
  ) {
    const target = server ?? missing('server of the demo');
    const answer = await target.inject({
      method: method as 'GET',
      url,
      headers,
      ...(body !== undefined && { payload: body }),
    });
    const retryAfter = answer.headers['retry-after'];
    return {
      status: answer.statusCode,
      retryAfter: retryAfter && String(retryAfter),
      body: answer.body,
    };
  }

  return { ...demos, useServer: (composed) => void (server = composed) };
}
