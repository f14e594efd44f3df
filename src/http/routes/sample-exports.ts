// Routes of sample exports (contract 19).
import { sampleExports } from '../../contract/sample-exports.ts';
import {
  createSampleExport,
  deleteSampleExport,
  findExport,
  listSampleExports,
  readSampleExport,
} from '../../inventory/exports/sample-exports.ts';
import type { Scope, Verb } from '../../model/permission.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import {
  exportFileName,
  type SampleExport,
  type SampleExportFormat,
} from '../../model/sample-export.ts';
import { fileAnswer } from '../edge/file-answer.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route, route } from '../edge/route.ts';
import { createdOnce } from './create-once.ts';
import { byId, byWorkspace, type RecordParts } from './record-parts.ts';

interface SampleExportRouteParts extends RecordParts {
  /** Undefined when exports are switched off. */
  readonly exports: SampleExportFiles | undefined;
  /** Throws Problem 403. */
  readonly authorize: (principal: Principal, scope: Scope, verb: Verb, place: Place) => void;
}

interface SampleExportFiles {
  readonly node: string;
  /** Begins the work of an accepted export. */
  readonly start: (id: string) => void;
  /** The path of the complete file. */
  readonly fileOf: (record: SampleExport) => string;
  readonly removeFile: (id: string) => Promise<void>;
}

const contentTypes: Readonly<Record<SampleExportFormat, string>> = {
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/gzip',
  csv: 'application/gzip',
};

export function sampleExportRoutes(parts: SampleExportRouteParts): Route[] {
  const { records, authorize } = parts;
  const place = byId(parts, 'sampleExport');
  const files = (): SampleExportFiles => {
    if (parts.exports === undefined) throw problem('exportsOff');
    return parts.exports;
  };
  return [
    resourceRoute(sampleExports.create, byWorkspace(parts), async (input, principal) => {
      const { node, start } = files();
      const created = await createdOnce(
        parts,
        { input, principal },
        (step) => createSampleExport(step, principal, input.body, node),
        (id) => readSampleExport(records, id),
      );
      start(created.id);
      return created;
    }),
    route(sampleExports.list, ({ query }, principal) =>
      listSampleExports(records, principal, listScopeOf(query), pageRequestOf(query)),
    ),
    resourceRoute(sampleExports.read, place, ({ params }) => readSampleExport(records, params.id)),
    resourceRoute(sampleExports.content, place, async ({ params, headers }) => {
      const record = await findExport(records, params.id);
      const { format } = record.plan;
      const file = {
        path: files().fileOf(record),
        name: `samples-${record.id}${exportFileName(format).slice('samples'.length)}`,
        contentType: contentTypes[format],
        tag: record.id,
      };
      return fileAnswer(file, headers);
    }),
    resourceRoute(sampleExports.remove, place, async ({ params }, principal) => {
      const { creator } = await readSampleExport(records, params.id);
      if (creator !== principal.id) authorize(principal, 'asset', 'delete', await place(params));
      await deleteSampleExport(records, params.id);
      await parts.exports?.removeFile(params.id);
    }),
  ];
}
