// Connector table: one row per type of output connector. Everything about a type is in the folder of its row.
// The contract, the views, the checks and the deliveries of output connectors are derived from this
// table.
import { alarm } from './alarm/alarm.ts';
import { amazonKinesis } from './amazon-kinesis/amazon-kinesis.ts';
import { amqp } from './amqp/amqp.ts';
import { azureEventHubs } from './azure-event-hubs/azure-event-hubs.ts';
import type { ConnectorType, PropertyRules } from './connector-type.ts';
import { customDatabase } from './custom-database/custom-database.ts';
import { database } from './database/database.ts';
import { downlink } from './downlink/downlink.ts';
import { gcpPubSub } from './gcp-pub-sub/gcp-pub-sub.ts';
import { installationMail } from './installation-mail/installation-mail.ts';
import { influxDb } from './influx-db/influx-db.ts';
import { kafka } from './kafka/kafka.ts';
import { mail } from './mail/mail.ts';
import { mqtt } from './mqtt/mqtt.ts';
import { msTeams } from './ms-teams/ms-teams.ts';
import { nats } from './nats/nats.ts';
import { slack } from './slack/slack.ts';
import { sms } from './sms/sms.ts';
import { sql } from './sql/sql.ts';
import { webhook } from './webhook/webhook.ts';

const connectorTable = {
  DATABASE: database,
  CUSTOM_DATABASE: customDatabase,
  WEBHOOK: webhook,
  MAIL: mail,
  SMS: sms,
  DOWNLINK: downlink,
  AZURE: azureEventHubs,
  GCP: gcpPubSub,
  AMAZON_KINESIS: amazonKinesis,
  INFLUX_DB: influxDb,
  KAFKA: kafka,
  MS_TEAMS: msTeams,
  SLACK: slack,
  SQL: sql,
  MQTT: mqtt,
  AMQP: amqp,
  NATS: nats,
  ALARM: alarm,
  INSTALLATION_MAIL: installationMail,
} as const satisfies Readonly<Record<string, ConnectorType>>;

type Row = (typeof connectorTable)[keyof typeof connectorTable];

/** The member of a record that contains the properties of its type. */
export type PropertiesKey = Row extends ConnectorType<infer K> ? K : never;

/** A type whose connectors have properties, which are the types that clients can create. */
interface TypeWithProperties {
  readonly type: string;
  readonly properties: PropertyRules<PropertiesKey>;
}

const rows: ReadonlyMap<string, ConnectorType<PropertiesKey>> = new Map(
  Object.entries(connectorTable),
);

export const connectorTypeNames: readonly string[] = [...rows.keys()];

/** In the order of the table. */
export const typesWithProperties: readonly TypeWithProperties[] = [...rows].flatMap(
  ([type, { properties }]) => (properties === null ? [] : [{ type, properties }]),
);

/** Types whose properties name other output connectors. */
export const typesNamingConnectors: readonly string[] = typesWithProperties.flatMap(
  ({ type, properties }) => (properties.namesConnectors ? [type] : []),
);

/** Second names of property objects (contract 34). */
export const propertiesAliases: ReadonlySet<string> = new Set(
  typesWithProperties.flatMap(({ properties: { alias } }) => alias ?? []),
);

/** Undefined for a name without a row: a record can come from another release. */
export function findConnectorType(type: string): ConnectorType<PropertiesKey> | undefined {
  return rows.get(type);
}

/**
 * The type that a client means, by its own name or by the name of the original vendor (contract
 * 34).
 */
export function typeNamed(name: string): string {
  const row = [...rows].find(([, { vendorName }]) => vendorName === name);
  return row?.[0] ?? name;
}
