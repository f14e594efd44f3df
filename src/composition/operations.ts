// Connects operations: work on many devices that continues after the answer, as the actor who ordered it.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createOperationRunner, type OperationRunner } from '../flows/operation-runner.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import { actorOfOperation } from '../inventory/operations/operation-actor.ts';
import { readOperation, runOperationChunk } from '../inventory/operations/operations.ts';
import type { LiveEvents } from '../flows/live-events.ts';
import type { Actor } from '../model/actor.ts';
import type { RecordChange } from '../model/record.ts';
import type { OpenRecords } from '../records/records.ts';
import { refreshStatistics } from '../records/statistics.ts';
import { findOperation, unfinishedOperations } from '../records/rows/operations.ts';
import type { Telemetry } from '../telemetry/events.ts';

export interface OperationsParts {
  readonly records: OpenRecords;
  readonly acting: AsyncLocalStorage<Actor | undefined>;
  readonly telemetry: Telemetry;
  /** Undefined until network servers are connected. */
  readonly networkServers: () => TellNetworkServer | undefined;
  readonly liveEvents: Pick<LiveEvents, 'operationMoved' | 'wantsAny'>;
  /** Whether this node runs the operation. */
  readonly isOwn: (id: string) => boolean;
}

export interface Operations extends OperationRunner {
  readonly recordChanged: (change: RecordChange) => void;
}

export function composeOperations(parts: OperationsParts): Operations {
  const { records, acting, telemetry, networkServers } = parts;
  const show = async (id: string): Promise<void> => {
    if (!parts.liveEvents.wantsAny('OPERATION')) return;
    const operation = await readOperation(records, id);
    parts.liveEvents.operationMoved(operation.workspaceId, operation);
  };
  const failed = (error: unknown) => telemetry.backgroundFailed('showing an operation', error);
  const runner = createOperationRunner({
    runChunk: async (id, isTimeUp) => {
      const actor = await actorOfOperation(records, id);
      const isDone = await acting.run(actor, () =>
        runOperationChunk(records, id, isTimeUp, networkServers()),
      );
      // Statistics from before many devices were added or deleted mislead the query planner.
      if (isDone) await refreshStatistics(records.db);
      await show(id).catch(failed);
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db, 'others'),
    isOwn: parts.isOwn,
    organizationOf: async (id) => (await findOperation(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('running an operation', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
  return {
    ...runner,
    recordChanged({ kind, id, action }) {
      if (kind === 'operation' && action === 'created') show(id).catch(failed);
    },
  };
}
