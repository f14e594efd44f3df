// Routes that take devices from a file and give them as one (contract 4).
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import Type from 'typebox';
import {
  deviceExportQuery,
  deviceImportQuery,
  exportedSchema,
  importReportSchema,
  operationSchema,
} from '../../contract/operation.ts';
import { exportDevices } from '../../inventory/imports/device-export.ts';
import { readDeviceFile } from '../../inventory/imports/device-file.ts';
import { sha256Of } from '../../inventory/workspaces/blobs.ts';
import { importDevices, importReport } from '../../inventory/imports/device-import.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { problem } from '../../model/problem.ts';
import { uploadedFile } from '../edge/multipart.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import { type BodyStream, bytesOf } from '../edge/streamed-body.ts';
import { createdOnce } from './record-parts.ts';
import type { OperationParts } from './operations.ts';

const tag = 'Devices';
const fileBytesMax = 32 * 1024 * 1024;

export function deviceFileRoutes(parts: OperationParts): Route[] {
  return [exportRoute(parts), importRoute(parts)];
}

function exportRoute({ records }: OperationParts): Route {
  return guardedRoute({
    method: 'GET',
    path: '/v3/devices/export',
    summary: 'The devices of a workspace as a file, CSV or JSON',
    tag,
    access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
    query: deviceExportQuery,
    answerTypes: { 'text/csv': Type.String(), 'application/json': exportedSchema },
    handle: async ({ query }, principal) => {
      const { workspaceId, format = 'csv' } = query;
      const { organizationId } = await listReach(records, principal, {
        workspaceIds: [workspaceId],
      });
      const pieces = exportDevices(records, { organizationId, workspaceId }, format);
      return new Answer(200, Readable.from(pieces), {
        'content-type':
          format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
        'content-disposition': `attachment; filename="devices.${format}"`,
      });
    },
  });
}

function importRoute(parts: OperationParts): Route {
  const { records, now, startOperation } = parts;
  return guardedRoute({
    method: 'POST',
    path: '/v3/devices/import',
    summary: 'Devices from a file, CSV or JSON; a dry run tells every problem by line',
    tag,
    access: { scope: 'asset', verb: 'create', place: { narrowedByHandler: true } },
    query: deviceImportQuery,
    body: Type.Unsafe<BodyStream>({
      type: 'string',
      description: 'text/csv, application/json, or multipart with one',
    }),
    streamedBody: true,
    anyBodyType: true,
    bodyBytesMax: fileBytesMax,
    needsAlso: 'With mode `upsert` also `asset` `update`.',
    bodyTypes: {
      'text/csv': Type.String(),
      'application/json': exportedSchema,
      'multipart/form-data': Type.Object({ file: Type.String() }),
    },
    status: 202,
    response: operationSchema,
    otherAnswers: { 200: importReportSchema },
    handle: async (input, principal) => {
      const { query, body, headers } = input;
      const { workspaceId, mode = 'create', dryRun = false } = query;
      const reach = { workspaceIds: [workspaceId] };
      await listReach(records, principal, reach, ['asset', 'create']);
      if (mode === 'upsert') await listReach(records, principal, reach, ['asset', 'update']);
      const file = uploadedFile(headers['content-type'], await bytesOf(body), undefined);
      const format = formatOf(file);
      const sha256 = sha256Of(file.content);
      const read = await readDeviceFile(utf8Of(file.content), format);
      const into = { workspaceId, mode };
      if (dryRun) {
        // `otherAnswers` describes it.
        return new Answer(200, (await importReport(records, principal, into, read)) as never);
      }
      const operation = await createdOnce(
        parts,
        { ...input, body: { ...query, sha256 } },
        principal,
        (step) => importDevices(step, principal, into, read, now()),
        (id) => readOperation(records, id),
      );
      startOperation(operation.id);
      return operation;
    },
  });
}

function utf8Of(content: Uint8Array): Uint8Array {
  if (!isUtf8(content)) throw problem('invalidRequest', { reason: 'The file is not UTF-8' });
  return content;
}

function formatOf({
  contentType,
  name,
}: {
  readonly contentType: string | undefined;
  readonly name: string;
}) {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json' || name.endsWith('.json')) return 'json';
  if (type === 'text/csv' || type === 'application/csv' || name.endsWith('.csv')) return 'csv';
  throw problem('unsupportedMediaType', { contentType: `${type ?? 'none'} (CSV is taken too)` });
}
