// API schemas of sample exports (contract 19).
import { filterExpression } from './filter-expression.ts';
import Type from 'typebox';
import {
  sampleExportFormats,
  sampleExportLimits,
  sampleExportStates,
} from '../model/sample-export.ts';
import { workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, list, oneOf, optional, orNull, text, time } from './record-fields.ts';

const count = Type.Integer({ minimum: 0 });
const { devicesMax, tagsMax, topicsMax, keysMax } = sampleExportLimits;

/** At least one: an empty list is not the same as none. */
function some(item: typeof id, maxItems: number, description: string) {
  return optional(Type.Array(item, { minItems: 1, maxItems, description }));
}

export const sampleExportBody = namedObject('SampleExportBody', {
  workspaceId: id,
  format: Type.Optional(oneOf(sampleExportFormats)),
  from: optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: optional(Type.String({ description: 'ISO-8601 date-time, exclusive. Defaults to now.' })),
  topics: some(text, topicsMax, 'Topics. Defaults to all.'),
  keys: some(text, keysMax, 'Data keys. Defaults to all.'),
  deviceIds: some(id, devicesMax, 'Devices. Defaults to all devices in the workspace.'),
  tagIds: some(id, tagsMax, 'Selects devices with any of the tags.'),
  search: optional(text),
  expression: Type.Optional(
    filterExpression('Filter expression that selects devices, instead of `deviceIds`.'),
  ),
});

export const sampleExportSchema = namedObject('SampleExport', {
  id,
  workspaceId: id,
  creator: id,
  state: oneOf(sampleExportStates),
  format: oneOf(sampleExportFormats),
  fileName: text,
  from: orNull(time),
  to: time,
  topics: orNull(list(text)),
  keys: orNull(list(text)),
  tagIds: orNull(list(id)),
  devices: count,
  devicesDone: count,
  samples: count,
  bytes: count,
  incomplete: Type.Boolean({
    description: 'Whether some samples could not be read and are missing from the file.',
  }),
  errorCode: orNull(text),
  error: orNull(text),
  started: time,
  completed: orNull(time),
  expires: orNull(time),
});

export const sampleExportListQuery = Type.Object(workspaceListParameters(['started']));
