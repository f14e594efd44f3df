// Device import: checks every line of a file, looks names up, and starts an operation when no line has a problem (contract 4).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { findCustomFields } from '../../records/rows/custom-fields.ts';
import { findWorkspaceDataFlows } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import { serviceIdsOf } from '../../records/rows/devices.ts';
import { findWorkspaceTags } from '../../records/rows/tags.ts';
import { type DeviceFile, devicesPerTurn, type FileProblem } from './device-file.ts';
import { type ImportContext, itemOf } from './device-import-item.ts';
import { acceptOperation, operationLimits, type OperationItem } from '../operations/operations.ts';

export interface ImportReport {
  readonly dryRun: boolean;
  readonly total: number;
  readonly creates: number;
  readonly updates: number;
  readonly problems: readonly FileProblem[];
}

interface ImportPlace {
  readonly workspaceId: string;
  readonly mode: 'create' | 'upsert';
}

/** Reads all of the file and changes nothing. */
async function checkFile(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): Promise<{
  readonly items: readonly OperationItem[];
  readonly problems: readonly FileProblem[];
}> {
  if (file.devices.length > operationLimits.itemsMax) {
    throw problem('invalidRequest', {
      reason: `A file can contain at most ${operationLimits.itemsMax} devices`,
    });
  }
  const { workspaceId, mode } = place;
  const { organizationId } = principal;
  const deviceIds = file.devices
    .map((device) => device.values['deviceId'])
    .filter((id) => typeof id === 'string');
  const context: ImportContext = {
    flows: byNameAndId(await findWorkspaceDataFlows(records.db, workspaceId)),
    tags: byNameAndId(await findWorkspaceTags(records.db, workspaceId)),
    fields: await findCustomFields(records.db, { organizationId, workspaceIds: [workspaceId] }),
    known: await serviceIdsOf(records.db, organizationId, deviceIds),
    lineOf: new Map(),
    workspaceId,
    mode,
  };
  const problems: FileProblem[] = [...file.problems];
  const items: OperationItem[] = [];
  for (const [i, device] of file.devices.entries()) {
    const item = itemOf(device, context, problems);
    if (item !== undefined) items.push(item);
    if (i % devicesPerTurn === 0) await nextTurn();
  }
  return { items, problems: problems.sort((one, other) => one.line - other.line) };
}

function byNameAndId<Row extends { readonly id: string; readonly name: string }>(
  rows: readonly Row[],
): Map<string, Row> {
  return new Map([
    ...rows.map((row) => [row.name, row] as const),
    ...rows.map((row) => [row.id, row] as const),
  ]);
}

/** A dry run: every problem of the file, and what would be done without any. Changes nothing. */
export async function importReport(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): Promise<ImportReport> {
  const { items, problems } = await checkFile(records, principal, place, file);
  const creates = items.filter((item) => item.type === 'CREATE').length;
  return {
    dryRun: true,
    total: file.devices.length,
    creates,
    updates: items.length - creates,
    problems,
  };
}

/** An operation; a file with any problem is refused whole. */
export async function importDevices(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): ReturnType<typeof acceptOperation> {
  const { items, problems } = await checkFile(records, principal, place, file);
  const [first] = problems;
  if (first !== undefined) {
    const { line, field, message } = first;
    throw problem('importInvalid', { count: problems.length, line, field, message });
  }
  const draft = {
    workspaceId: place.workspaceId,
    type: 'BULK_CREATE',
    plan: { work: 'import' },
  } as const;
  return acceptOperation(records, principal, draft, items);
}
