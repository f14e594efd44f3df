// Connects sample exports: their files in the data folder, the runner that writes them, and routes.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { authorize } from '../access/authorize.ts';
import { PartEncoder } from '../query/exports/part-encoder.ts';
import type { Once } from '../uplinks/idempotency/idempotency.ts';
import { createOperationRunner, type OperationRunner } from '../operations/operation-runner.ts';
import { SampleExports, freeBytesOf } from '../operations/sample-exports.ts';
import type { Route } from '../http/edge/route.ts';
import { sampleExportRoutes } from '../http/routes/sample-exports.ts';
import { readOperation } from '../inventory/operations/operations.ts';
import { leaseOfOperation } from '../cluster/leases/lease-tasks.ts';
import { operationRows, unfinishedOperations } from '../storage/records/rows/operations.ts';
import type { Parts } from './platform-parts.ts';
import { shareRunner } from './shared-work.ts';

interface ComposedExports {
  readonly routes: readonly Route[];
  readonly resume: OperationRunner['resume'];
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** With a limit of 0 bytes, exports are refused. */
export function composeExports(parts: Parts, once: Once): ComposedExports {
  const { records, now } = parts;
  const routing = { records, now, once, authorize };
  if (parts.config.exportBytesMax === 0) {
    return {
      routes: sampleExportRoutes({ ...routing, exports: undefined }),
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
    routes: sampleExportRoutes({ ...routing, exports: files }),
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
  const runner = runnerOf(parts, exports);
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

function runnerOf(parts: Parts, { runPart }: SampleExports): OperationRunner {
  const { records, telemetry, liveEvents, sharedWork } = parts;
  return createOperationRunner({
    runChunk: async (id) => {
      const isDone = await runPart(id);
      const operation = await operationRows.find(records.db, id);
      if (operation !== undefined && liveEvents.wants(operation.workspaceId, 'OPERATION'))
        liveEvents.operationMoved(operation.workspaceId, await readOperation(records, id));
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db, 'exports'),
    isOwn: (id) => sharedWork?.holds(leaseOfOperation(id)) ?? true,
    organizationOf: async (id) => (await operationRows.find(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('exporting samples', error),
    clock: () => performance.now(),
    pause: (ms) => pause(ms),
  });
}
