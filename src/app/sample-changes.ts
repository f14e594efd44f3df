// Connects deletions, corrections and recalculations of samples: the owners of devices, the runner of operations, and routes.
import { setTimeout as pause } from 'node:timers/promises';
import { authorize } from '../access/authorize.ts';
import { leaseOfOperation } from '../cluster/leases/lease-tasks.ts';
import type { SampleChangesOfNode } from '../cluster/remote-sample-changes.ts';
import type { Route } from '../http/edge/route.ts';
import { recalculationRoute } from '../http/routes/recalculation.ts';
import { sampleChangeRoutes } from '../http/routes/sample-changes.ts';
import { readOperation } from '../inventory/operations/operations.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import { createOperationRunner, type OperationRunner } from '../operations/operation-runner.ts';
import { SampleOperations } from '../operations/sample-operations.ts';
import { operationRows, unfinishedOperations } from '../storage/records/rows/operations.ts';
import { countDeletion } from '../uplinks/sample-changes.ts';
import type { Parts } from './platform-parts.ts';
import { shareRunner } from './shared-work.ts';
import type { Uplinks } from './uplinks.ts';

interface ComposedSampleChanges {
  readonly routes: readonly Route[];
  readonly resume: OperationRunner['resume'];
  readonly close: () => Promise<void>;
}

export function composeSampleChanges(parts: Parts, uplinks: Uplinks): ComposedSampleChanges {
  const { records, now, store, sharedWork, directory } = parts;
  const { once, sampleChanges, previewRecalculation: preview } = uplinks;
  const own = runnerOf(parts, sampleChanges);
  const shared = { runner: own, call: 'sampleOperation', what: 'resuming sample operations' };
  const runner = sharedWork === undefined ? own : shareRunner(parts, sharedWork, shared);
  const { placeOfDevice } = createDevicePlaces(directory, records);
  const { start } = runner;
  const common = { records, now, once, placeOfDevice, start };
  return {
    routes: [
      ...sampleChangeRoutes({
        ...common,
        count: (deviceId, deletion) => countDeletion(store, deviceId, deletion),
        correct: sampleChanges.correct,
        listUplinks: uplinks.raw.list,
      }),
      recalculationRoute({ ...common, authorize, preview }),
    ],
    resume: runner.resume,
    close: runner.close,
  };
}

function runnerOf(parts: Parts, sampleChanges: SampleChangesOfNode): OperationRunner {
  const { records, telemetry, liveEvents, sharedWork } = parts;
  const { delete: remove, recalculate } = sampleChanges;
  const operations = new SampleOperations({ records, delete: remove, recalculate });
  return createOperationRunner({
    runChunk: async (id, isTimeUp) => {
      const isDone = await operations.runChunk(id, isTimeUp);
      const operation = await operationRows.find(records.db, id);
      if (operation !== undefined && liveEvents.wants(operation.workspaceId, 'OPERATION'))
        liveEvents.operationMoved(operation.workspaceId, await readOperation(records, id));
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db, 'sampleChanges'),
    isOwn: (id) => sharedWork?.holds(leaseOfOperation(id)) ?? true,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('changing samples', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
}
