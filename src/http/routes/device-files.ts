// Routes of device import and export (contract 4).
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { deviceFiles } from '../../contract/device-files.ts';
import { exportDevices, readDeviceFile } from '../../inventory/imports/device-file.ts';
import { importDevices, importReport } from '../../inventory/imports/device-import.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import { sha256Of } from '../../inventory/workspaces/blobs.ts';
import { problem } from '../../model/problem.ts';
import { uploadedFile } from '../edge/multipart.ts';
import { bytesOf } from '../edge/request-body.ts';
import { Answer, type Route, route } from '../edge/route.ts';
import { createdOnce } from './create-once.ts';
import type { OperationParts } from './operations.ts';

export function deviceFileRoutes(parts: Omit<OperationParts, 'aliased'>): Route[] {
  return [exportRoute(parts), importRoute(parts)];
}

function exportRoute({ records }: Pick<OperationParts, 'records'>): Route {
  return route(deviceFiles.export, async ({ query }, principal) => {
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
  });
}

function importRoute(parts: Omit<OperationParts, 'aliased'>): Route {
  const { records, startOperation } = parts;
  return route(deviceFiles.import, async (input, principal) => {
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
      { input: { ...input, body: { ...query, sha256 } }, principal },
      (step) => importDevices(step, principal, into, read),
      (id) => readOperation(records, id),
    );
    startOperation(operation.id);
    return operation;
  });
}

function utf8Of(content: Uint8Array): Uint8Array {
  if (!isUtf8(content)) throw problem('invalidRequest', { reason: 'The file is not valid UTF-8' });
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
  throw problem('unsupportedMediaType', {
    contentType: `${type ?? 'none'} (text/csv is also supported)`,
  });
}
