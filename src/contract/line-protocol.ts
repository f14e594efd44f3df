// Schemas of the line protocol mapping of device connectors.
import Type from 'typebox';
import { lineProtocolLimits } from '../model/line-protocol-mapping.ts';
import { namedObject } from './named.ts';
import { list, optional, orNull } from './record-fields.ts';

const { deviceTemplatesMax, templateLengthMax, devicesMax } = lineProtocolLimits;

const template = Type.String({ minLength: 1, maxLength: templateLengthMax });
const creation = Type.Object({
  devicesMax: Type.Integer({
    minimum: 1,
    maximum: devicesMax,
    description: "Maximum number of devices in the connector's oldest data flow.",
  }),
});
const deviceText =
  'Templates of the device ID. The first one whose tags are all present is used. Defaults to ' +
  '`{device}`, `{device_id}`, `{host}`, `{entity_id}`.';
const topicText = 'Template of the topic. Defaults to `{measurement}`.';
const creationText = 'Creates devices for unknown points. Null rejects such points.';

export const lineProtocolSchema = namedObject('LineProtocolMapping', {
  device: list(template),
  topic: Type.String({ description: topicText }),
  createDevices: orNull(creation),
});

export const lineProtocolDraft = namedObject('LineProtocolMappingDraft', {
  device: optional(
    Type.Array(template, { minItems: 1, maxItems: deviceTemplatesMax, description: deviceText }),
  ),
  topic: optional(
    Type.String({ minLength: 1, maxLength: templateLengthMax, description: topicText }),
  ),
  createDevices: Type.Optional(Type.Union([creation, Type.Null()], { description: creationText })),
});
