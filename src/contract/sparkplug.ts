// Schemas of the Sparkplug mapping of device connectors.
import Type from 'typebox';
import { sparkplugMappingLimits } from '../model/connector.ts';
import { namedObject } from './named.ts';
import { optional, orNull } from './record-fields.ts';

const { templateLengthMax, hostIdLengthMax, devicesMax } = sparkplugMappingLimits;

const template = (description: string) =>
  Type.String({ minLength: 1, maxLength: templateLengthMax, description });
const node = template(
  'Template of the device ID of an edge node. Must contain `{edge}`. Defaults to `{group}/{edge}`.',
);
const device = template(
  'Template of the device ID of a device. Must contain `{device}`. ' +
    'Defaults to `{group}/{edge}/{device}`.',
);
const topic = template('Topic of the samples. Defaults to `default`.');
const hostId = Type.String({
  pattern: '^[^/+#]+$',
  maxLength: hostIdLengthMax,
  description: 'Sparkplug host ID of the platform. Edge nodes can wait for its STATE message.',
});
const creation = Type.Object({
  devicesMax: Type.Integer({
    minimum: 1,
    maximum: devicesMax,
    description: "Maximum number of devices in the connector's oldest data flow.",
  }),
});
const creationText = 'Creates devices for unknown births. Null rejects them.';

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
