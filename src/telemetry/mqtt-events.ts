// What happens on MQTT connections, as log lines and metrics.
import type { Log } from './log.ts';

type CounterOf = (
  name: string,
  help: string,
  labelNames?: readonly string[],
) => { inc(labels: Record<string, string>): void };
type About = Readonly<Record<string, string>>;

/** `about` names address, client and device; never a topic, which holds a secret. */
export function mqttEvents(counter: CounterOf, log: Log) {
  const refusals = counter(
    'mqtt_refused_total',
    'MQTT connections, publishes and subscriptions refused.',
    ['reason'],
  );
  const ends = counter(
    'mqtt_connections_broken_total',
    'MQTT connections that ended without a DISCONNECT.',
  );
  const repetitions = counter('mqtt_repetitions_total', 'Duplicate MQTT publishes ignored.');
  return {
    mqttRefused(why: string, about: About): void {
      refusals.inc({ reason: why });
      log.info({ why, ...about }, 'MQTT request rejected');
    },

    mqttEnded(why: string, about: About): void {
      ends.inc({});
      log.debug({ why, ...about }, 'MQTT connection ended');
    },

    mqttRepeated(): void {
      repetitions.inc({});
    },
  };
}
