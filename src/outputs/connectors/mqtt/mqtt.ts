// MQTT: one message per delivery (contract 9).
import { connectorType } from '../connector-type.ts';
import { createLazyTarget } from '../target.ts';
import { targetUri } from '../target-uri.ts';
import { mqttPorts, mqttProperties, parseMqtt } from './mqtt-properties.ts';

export const mqtt = connectorType({
  vendorName: null,
  propertiesKey: 'mqttProperties',
  properties: mqttProperties,
  secrets: ['password', 'clientKey'],
  parse: parseMqtt,
  check({ uri, topic }, checks) {
    checks.endpoint('uri', targetUri(uri, mqttPorts));
    checks.template('topic', topic);
  },
  open: (properties, { egress }) =>
    createLazyTarget(async () => {
      const { createMqttTarget } = await import('./mqtt-sender.ts');
      return createMqttTarget(properties, egress);
    }),
});
