// Connects deletions and corrections of samples: the owners of devices, the runner of operations, and routes.
import { setTimeout as pause } from 'node:timers/promises';
import { leaseOfOperation } from '../cluster/leases/lease-tasks.ts';
import type { SampleChangesOfNode } from '../cluster/remote-sample-changes.ts';
import type { Route } from '../http/edge/route.ts';
import { sampleChangeRoutes } from '../http/routes/sample-changes.ts';
import { readOperation } from '../inventory/operations/operations.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import { createOperationRunner, type OperationRunner } from '../operations/operation-runner.ts';
import { SampleDeletions } from '../operations/sample-deletions.ts';
import { operationRows, unfinishedOperations } from '../storage/records/rows/operations.ts';
import { countDeletion } from '../uplinks/sample-changes.ts';
import type { Parts } from './platform-parts.ts';
import { shareRunner } from './shared-runner.ts';
import type { Uplinks } from './uplinks.ts';

export interface ComposedSampleChanges {
  readonly routes: readonly Route[];
  readonly resume: OperationRunner['resume'];
  readonly close: () => Promise<void>;
}

export function composeSampleChanges(
  parts: Parts,
  { once, sampleChanges }: Pick<Uplinks, 'once' | 'sampleChanges'>,
): ComposedSampleChanges {
  const { records, now, store, sharedWork, directory } = parts;
  const own = runnerOf(parts, sampleChanges);
  const shared = { runner: own, call: 'deletion', what: 'resuming deletions of samples' };
  const runner = sharedWork === undefined ? own : shareRunner(parts, sharedWork, shared);
  return {
    routes: sampleChangeRoutes({
      records,
      now,
      once,
      placeOfDevice: createDevicePlaces(directory, records).placeOfDevice,
      start: runner.start,
      count: (deviceId, deletion) => countDeletion(store, deviceId, deletion),
      correct: sampleChanges.correct,
    }),
    resume: runner.resume,
    close: runner.close,
  };
}

function runnerOf(parts: Parts, sampleChanges: SampleChangesOfNode): OperationRunner {
  const { records, telemetry, liveEvents, sharedWork } = parts;
  const deletions = new SampleDeletions({ records, delete: sampleChanges.delete });
  return createOperationRunner({
    runChunk: async (id, isTimeUp) => {
      const isDone = await deletions.runChunk(id, isTimeUp);
      const operation = await operationRows.find(records.db, id);
      if (operation !== undefined && liveEvents.wants(operation.workspaceId, 'OPERATION'))
        liveEvents.operationMoved(operation.workspaceId, await readOperation(records, id));
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db, 'deletions'),
    isOwn: (id) => sharedWork?.holds(leaseOfOperation(id)) ?? true,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('deleting samples', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
}
