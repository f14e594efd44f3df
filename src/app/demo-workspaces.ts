// Composes the demo workspaces: their devices are requests to the server of this process.
import type { FastifyInstance } from 'fastify';
import type { Parts } from './platform-parts.ts';
import {
  createDemoWorkspaces,
  type DemoWorkspaces,
  type WantedDemo,
} from '../operations/demo-workspaces.ts';
import { activateNewRules } from '../inventory/workspaces/demo-workspace.ts';
import { ChangeFollower } from '../model/record.ts';
import { demoWorkspaceRows } from '../storage/records/rows/workspaces.ts';
import { missing } from '../structures/missing.ts';
import { isRefused, problem, problemOf, type Refusal, refusalOf } from '../model/problem.ts';

export function composeDemoWorkspaces(parts: Parts): DemoWorkspaces & {
  /** Call with the server before the first request. */
  readonly useServer: (server: FastifyInstance) => void;
  /** Continues the simulations of before the start, or of another node. */
  readonly begin: () => Promise<void>;
} {
  const { now, telemetry, followChanges, records, store } = parts;
  let server: FastifyInstance | undefined;
  const demos = createDemoWorkspaces({
    async open(wanted, signal) {
      // Most platforms never need it.
      const { openWorkspaceDemo } = await import('../../clients/demo/workspace-demo.ts');
      const activateRules = activateRulesOf(wanted.workspaceId);
      return openWorkspaceDemo({ ...wanted, now, signal, send, activateRules });
    },
    async resume(workspaceId, signal) {
      const found = (await demoWorkspaceRows.listSimulated(records)).find(
        (one) => one.workspaceId === workspaceId,
      );
      if (found === undefined) return;
      const devices = [];
      for (const device of found.devices) {
        const [latest] = await store.topics(device.id);
        devices.push({ ...device, newest: latest?.newest });
      }
      const { resumeWorkspaceDemo } = await import('../../clients/demo/workspace-demo.ts');
      const activateRules = activateRulesOf(workspaceId);
      await resumeWorkspaceDemo({ ...found, devices, now, signal, send, activateRules });
    },
    failed: (error) => telemetry.backgroundFailed('simulating the demo workspace', error),
  });
  followChanges(new ChangeFollower(demos.recordChanged));
  const activateRulesOf = (workspaceId: string) => (names: readonly string[]) =>
    activateNewRules(records, workspaceId, names);

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

  async function resumeAll(): Promise<void> {
    const found = await demoWorkspaceRows.listSimulated(records);
    for (const { workspaceId } of found) demos.resume(workspaceId);
  }

  return {
    ...demos,
    start: sharedStart(parts, demos, resumeAll),
    useServer: (composed) => void (server = composed),
    // With several nodes, they begin with the lease.
    begin: async () => {
      if (parts.sharedWork === undefined) await resumeAll();
    },
  };
}

const startCall = 'startDemo';

/** With several nodes, all demos are simulated by one of them. */
function sharedStart(
  { sharedWork, telemetry }: Parts,
  demos: DemoWorkspaces,
  resumeAll: () => Promise<void>,
): DemoWorkspaces['start'] {
  if (sharedWork === undefined) return demos.start;
  const failed = (error: unknown) => telemetry.backgroundFailed('resuming demo workspaces', error);
  sharedWork.follow({
    family: 'demo',
    gained: () => void resumeAll().catch(failed),
    lost: demos.stopAll,
  });
  sharedWork.answer(startCall, (wanted) =>
    answerOf(async () => [...(await demos.start(wanted as WantedDemo))]),
  );
  return async (wanted) => {
    if (sharedWork.holds('demo')) return demos.start(wanted);
    const { organizationId, workspaceId, headers } = wanted;
    const request = { organizationId, workspaceId, headers: { ...headers } };
    const answer = await sharedWork.askHolder('demo', startCall, request);
    return readAnswer(answer) as string[];
  };
}

// Holder answers: what the node that holds some work answers to another one, with refusals as problems of the catalog.

/** The answer to a call, also when the work throws a Problem. */
async function answerOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    return refusalOf(error);
  }
}

/** The value. Throws the Problem of the holder, and `nodeUnreachable` without a holder. */
function readAnswer(answer: unknown): unknown {
  if (answer === undefined) throw problem('nodeUnreachable');
  const read = answer as { readonly value: unknown } | Refusal;
  if (isRefused(read)) throw problemOf(read);
  return read.value;
}
