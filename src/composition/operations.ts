// Connects operations: work on many devices that continues after the answer, as the actor who ordered it.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createOperationRunner, type OperationRunner } from '../flows/operation-runner.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import { actorOfOperation } from '../inventory/operations/operation-actor.ts';
import { runOperationChunk } from '../inventory/operations/operations.ts';
import type { Actor } from '../model/actor.ts';
import { type OpenRecords, refreshStatistics } from '../records/records.ts';
import { findOperation, unfinishedOperations } from '../records/rows/operations.ts';
import type { Telemetry } from '../telemetry/events.ts';

export interface OperationsParts {
  readonly records: OpenRecords;
  readonly acting: AsyncLocalStorage<Actor | undefined>;
  readonly telemetry: Telemetry;
  /** Undefined until network servers are connected. */
  readonly networkServers: () => TellNetworkServer | undefined;
}

export function composeOperations(parts: OperationsParts): OperationRunner {
  const { records, acting, telemetry, networkServers } = parts;
  return createOperationRunner({
    runChunk: async (id, isTimeUp) => {
      const actor = await actorOfOperation(records, id);
      const isDone = await acting.run(actor, () =>
        runOperationChunk(records, id, isTimeUp, networkServers()),
      );
      // Statistics from before many devices were added or deleted mislead the query planner.
      if (isDone) await refreshStatistics(records.db);
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db),
    organizationOf: async (id) => (await findOperation(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('running an operation', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
}
