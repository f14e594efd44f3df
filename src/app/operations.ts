// Connects operations on samples: deletions, corrections, recalculations and exports, with their runners and routes.
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { authorize } from '../access/authorize.ts';
import { leaseOfOperation } from '../cluster/leases/lease-tasks.ts';
import type { SampleChangesOfNode } from '../cluster/remote-sample-changes.ts';
import type { Route } from '../http/edge/route.ts';
import { recalculationRoute, sampleChangeRoutes } from '../http/routes/sample-changes.ts';
import { readOperation } from '../inventory/operations/operations.ts';
import { ChunkRunner, type OperationRunner } from '../operations/operation-runner.ts';
import { SampleOperations } from '../operations/sample-operations.ts';
import { operationRows } from '../storage/records/rows/operations.ts';
import { countDeletion } from '../uplinks/sample-changes.ts';
import type { Parts } from './platform-parts.ts';
import { shareRunner } from './shared-work.ts';
import type { Uplinks } from './uplinks.ts';
import { PartEncoder } from '../query/exports/part-encoder.ts';
import { freeBytesOf, SampleExports } from '../operations/sample-exports.ts';
import type { RecordRoutes } from '../http/routes/record-routes.ts';
import { sampleExportRoutes } from '../http/routes/sample-exports.ts';
import { deviceAccess } from './reports.ts';

export function composeSampleChanges(
  parts: Parts,
  uplinks: Uplinks,
  common: RecordRoutes,
): {
  readonly routes: readonly Route[];
  readonly resume: OperationRunner['resume'];
  readonly close: () => Promise<void>;
} {
  const { store, sharedWork } = parts;
  const { sampleChanges, previewRecalculation: preview } = uplinks;
  const own = runnerOf(parts, sampleChanges);
  const shared = { runner: own, call: 'sampleOperation', what: 'resuming sample operations' };
  const runner = sharedWork === undefined ? own : shareRunner(parts, sharedWork, shared);
  const devices = deviceAccess(parts);
  const { start } = runner;
  return {
    routes: [
      ...sampleChangeRoutes(
        common,
        devices,
        {
          count: (deviceId, deletion) => countDeletion(store, deviceId, deletion),
          correct: sampleChanges.correct,
          listUplinks: uplinks.raw.list,
        },
        start,
      ),
      recalculationRoute(common, devices, preview, start),
    ],
    resume: runner.resume,
    close: runner.close,
  };
}

function runnerOf(parts: Parts, sampleChanges: SampleChangesOfNode): OperationRunner {
  const { records, telemetry, liveEvents, sharedWork } = parts;
  const { delete: remove, recalculate, settled } = sampleChanges;
  const work = { records, delete: remove, recalculate };
  const clock = () => performance.now();
  const operations = new SampleOperations(
    // A single node has all that it hides on its own disk.
    sharedWork === undefined ? work : { ...work, settling: { settled, clock, pause } },
  );
  return new ChunkRunner({
    runChunk: async (id, isTimeUp) => {
      const isDone = await operations.runChunk(id, isTimeUp);
      const operation = await operationRows.find(records.db, id);
      if (operation !== undefined && liveEvents.wants(operation.workspaceId, 'OPERATION'))
        liveEvents.operationMoved(operation.workspaceId, await readOperation(records, id));
      return isDone;
    },
    unfinished: () => operationRows.unfinished(records.db, 'sampleChanges'),
    isOwn: (id) => sharedWork?.holds(leaseOfOperation(id)) ?? true,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('changing samples', error),
    clock,
    pause: (ms) => pause(ms),
  });
}

// Connects sample exports: their files in the data folder, the runner that writes them, and routes.

/** With a limit of 0 bytes, exports are refused. */
export function composeExports(
  parts: Parts,
  common: RecordRoutes,
): {
  readonly routes: readonly Route[];
  readonly resume: OperationRunner['resume'];
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
} {
  if (parts.config.exportBytesMax === 0) {
    return {
      routes: sampleExportRoutes(common, undefined, authorize),
      resume: async () => undefined,
      runMaintenance: async () => undefined,
      close: async () => undefined,
    };
  }
  const encoder = new PartEncoder();
  const exports = exportsOf(parts, encoder);
  const runner = sharedRunnerOf(parts, exports);
  const { fileOf, removeFile } = exports;
  const files = { node: nodeOf(parts), start: runner.start, fileOf, removeFile };
  return {
    routes: sampleExportRoutes(common, files, authorize),
    resume: runner.resume,
    runMaintenance: exports.runMaintenance,
    async close() {
      await runner.close();
      await encoder.close();
    },
  };
}

/** An export runs, and has its file, on the node that holds its lease. */
function sharedRunnerOf(parts: Parts, exports: SampleExports): OperationRunner {
  const { sharedWork } = parts;
  const runner = exportRunnerOf(parts, exports);
  if (sharedWork === undefined) return runner;
  return shareRunner(parts, sharedWork, { runner, call: 'export', what: 'resuming exports' });
}

function nodeOf({ node }: Parts): string {
  return node?.id ?? '';
}

function exportsOf(parts: Parts, encoder: PartEncoder): SampleExports {
  const { config, records, store } = parts;
  return new SampleExports({
    records,
    store,
    encoder,
    node: nodeOf(parts),
    folder: join(config.dataDirectory, 'exports'),
    bytesMax: config.exportBytesMax,
    retentionMs: config.exportRetentionMs,
    freeBytes: () => freeBytesOf(config.dataDirectory),
  });
}

function exportRunnerOf(parts: Parts, { runPart }: SampleExports): OperationRunner {
  const { records, telemetry, liveEvents, sharedWork } = parts;
  return new ChunkRunner({
    runChunk: async (id) => {
      const isDone = await runPart(id);
      const operation = await operationRows.find(records.db, id);
      if (operation !== undefined && liveEvents.wants(operation.workspaceId, 'OPERATION'))
        liveEvents.operationMoved(operation.workspaceId, await readOperation(records, id));
      return isDone;
    },
    unfinished: () => operationRows.unfinished(records.db, 'exports'),
    isOwn: (id) => sharedWork?.holds(leaseOfOperation(id)) ?? true,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('exporting samples', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
}
