// Endpoints of device import and export (contract 4).
import Type from 'typebox';
import { type BodyStream, endpoint } from './endpoint.ts';
import {
  deviceExportQuery,
  deviceImportQuery,
  exportedSchema,
  importReportSchema,
  operationSchema,
} from './operations.ts';

const tag = 'Devices';
const fileBytesMax = 32 * 1024 * 1024;

export const deviceFiles = {
  export: endpoint({
    method: 'GET',
    path: '/v3/devices/export',
    summary: 'Export devices',
    description: 'Downloads the devices of a workspace as CSV or JSON.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    query: deviceExportQuery,
    answerTypes: { 'text/csv': Type.String(), 'application/json': exportedSchema },
  }),
  import: endpoint({
    method: 'POST',
    path: '/v3/devices/import',
    summary: 'Import devices',
    description:
      'Creates or updates devices from a CSV or JSON file; `dryRun` reports every problem by line and changes nothing.',
    tag,
    access: { scope: 'asset', verb: 'create', resource: 'handler' },
    query: deviceImportQuery,
    body: Type.Unsafe<BodyStream>({
      type: 'string',
      description: 'text/csv, application/json, or multipart with one',
    }),
    streamedBody: true,
    anyBodyType: true,
    bodyBytesMax: fileBytesMax,
    needsAlso: 'Mode `upsert` also requires `asset` `update`.',
    bodyTypes: {
      'text/csv': Type.String(),
      'application/json': exportedSchema,
      'multipart/form-data': Type.Object({ file: Type.String() }),
    },
    status: 202,
    response: operationSchema,
    otherAnswers: { 200: importReportSchema },
  }),
} as const;
