// Action sink: a webhook server for tests of rules, with the requests of each action in order.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { World } from './world.ts';

/** Rules that reach it need this in the environment of their world. */
export const sinkEnvironment = { EGRESS_ALLOW: '127.0.0.0/8' };

export interface ActionSink {
  /** Makes an output connector that delivers here; its id. */
  action(world: World, name: string, more?: Record<string, unknown>): Promise<string>;
  /** Takes the next body sent to the action, waiting for it. */
  next(name: string): Promise<Record<string, never>>;
  /** What was sent to the action and not taken. */
  left(name: string): readonly unknown[];
  close(): Promise<void>;
}

export async function startActionSink(): Promise<ActionSink> {
  const sent = new Map<string, Record<string, never>[]>();
  const waiting = new Set<() => void>();
  const of = (name: string) => {
    const list = sent.get(name) ?? [];
    sent.set(name, list);
    return list;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      of(decodeURIComponent(request.url!.slice(1))).push(
        JSON.parse(Buffer.concat(chunks).toString()) as never,
      );
      response.end('taken');
      for (const wake of [...waiting]) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    async action(world, name, more = {}) {
      const uri = `http://127.0.0.1:${port}/${encodeURIComponent(name)}`;
      const webhookProperties = { uri, method: 'POST', contentType: 'JSON', authType: 'NONE' };
      const body = {
        name,
        workspaceId: world.workspaceId,
        type: 'WEBHOOK',
        scope: 'RULE_ACTION',
        webhookProperties,
      };
      return (await world.must('POST', '/v3/output-connectors', { ...body, ...more })).id;
    },
    async next(name) {
      while (of(name).length === 0) {
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
      return of(name).shift()!;
    },
    left: (name) => of(name),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
