// Schemas of the Sparkplug mapping of device connectors.
import Type from 'typebox';
import { sparkplugMappingLimits } from '../model/sparkplug-mapping.ts';
import { namedObject } from './named.ts';
import { optional, orNull } from './record-fields.ts';

const { templateLengthMax, hostIdLengthMax, devicesMax } = sparkplugMappingLimits;

const template = (description: string) =>
  Type.String({ minLength: 1, maxLength: templateLengthMax, description });
const node = template(
  'Template of the physical id of an edge node, by default `{group}/{edge}`. It contains `{edge}`',
);
const device = template(
  'Template of the physical id of a device, by default `{group}/{edge}/{device}`. ' +
    'It contains `{device}`',
);
const topic = template('Topic of the samples, by default `default`');
const hostId = Type.String({
  pattern: '^[^/+#]+$',
  maxLength: hostIdLengthMax,
  description: 'Name of the platform as a host; edge nodes can wait for its STATE',
});
const creation = Type.Object({
  devicesMax: Type.Integer({
    minimum: 1,
    maximum: devicesMax,
    description: 'Devices that the oldest data flow of the connector has at most',
  }),
});
const creationText = 'Births of unknown edge nodes and devices create them; null rejects them';

export const sparkplugSchema = namedObject('SparkplugMapping', {
  node,
  device,
  topic,
  hostId,
  createDevices: orNull(creation),
});

export const sparkplugDraft = namedObject('SparkplugMappingDraft', {
  node: optional(node),
  device: optional(device),
  topic: optional(topic),
  hostId: optional(hostId),
  createDevices: Type.Optional(Type.Union([creation, Type.Null()], { description: creationText })),
});
