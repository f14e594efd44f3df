// Properties of the output connectors that speak a protocol of their own, as they are stored (contract 9).
// They are type aliases, not interfaces, because stored properties are JSON objects.

/** Certificates in PEM; null for the public authorities and no client certificate. */
export type TlsProperties = {
  readonly caCertificate: string | null;
  readonly clientCertificate: string | null;
  readonly clientKey: string | null;
};

/** A user at the target; null for none. */
export type UserProperties = { readonly username: string | null; readonly password: string | null };

export const mqttVersions = ['V3_1_1', 'V5'] as const;
export const mqttQualities = [1, 2] as const;

export type MqttProperties = UserProperties &
  TlsProperties & {
    /** `mqtt://host:port` or `mqtts://host:port`. */
    readonly uri: string;
    readonly protocolVersion: (typeof mqttVersions)[number];
    /** Null for a random one. */
    readonly clientId: string | null;
    /** A template. */
    readonly topic: string;
    readonly qos: (typeof mqttQualities)[number];
    readonly retain: boolean;
  };

export type AmqpProperties = UserProperties &
  TlsProperties & {
    /** `amqp://host:port/vhost` or `amqps://host:port/vhost`. */
    readonly uri: string;
    /** Empty for the default exchange, whose routing keys are names of queues. */
    readonly exchange: string;
    /** A template. */
    readonly routingKey: string;
    readonly persistent: boolean;
    /** Whether a message that no queue takes counts as not delivered. */
    readonly mandatory: boolean;
  };

export type NatsProperties = UserProperties &
  TlsProperties & {
    /** `nats://host:port` or `tls://host:port`. */
    readonly uri: string;
    readonly token: string | null;
    /** The text of a credentials file: a user's token and seed. */
    readonly credentials: string | null;
    /** A template. */
    readonly subject: string;
    /** Whether a stream must have stored the message. */
    readonly jetStream: boolean;
  };

export const kafkaSecurityProtocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const;
export const kafkaSaslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const;

export type KafkaProperties = TlsProperties & {
  readonly kafkaTopic: string;
  /** `host:port`, comma-separated. */
  readonly kafkaBootstrapServers: string;
  readonly securityProtocol: (typeof kafkaSecurityProtocols)[number];
  readonly saslMechanism: (typeof kafkaSaslMechanisms)[number];
  readonly saslJaasUsername: string | null;
  readonly saslJaasPassword: string | null;
};

export const influxVersions = ['V1', 'V2'] as const;

export type InfluxProperties = UserProperties & {
  readonly uri: string;
  /** V1: user and password, if any; V2: token and organization. */
  readonly version: (typeof influxVersions)[number];
  readonly token: string | null;
  readonly orgId: string | null;
  /** V1: the database, or `database/retention policy`. */
  readonly bucket: string;
  readonly measurementName: string;
};

export const sqlColumnTypes = ['AUTO', 'TEXT', 'TIMESTAMP'] as const;
export const sqlTlsModes = ['REQUIRED', 'OFF'] as const;

/** What a column gets: the value at a path of the template context. */
export type SqlColumn = {
  readonly column: string;
  readonly path: string;
  readonly type: (typeof sqlColumnTypes)[number];
};

export type SqlProperties = UserProperties &
  TlsProperties & {
    /** `jdbc:postgresql://host:port/database`, `jdbc:mariadb://...` or `jdbc:mysql://...`. */
    readonly jdbcUrl: string;
    readonly tls: (typeof sqlTlsModes)[number];
    readonly schema: string | null;
    readonly table: string;
    readonly columns: readonly SqlColumn[];
    /** Whether a row whose unique key is already there counts as delivered. */
    readonly ignoreDuplicates: boolean;
  };

export type AzureProperties = {
  /** Of an Event Hub: `Endpoint=sb://...;SharedAccessKeyName=...;SharedAccessKey=...;EntityPath=...`. */
  readonly connectionString: string;
};

export type GcpProperties = {
  /** `projects/<project>/topics/<topic>`. */
  readonly pubSubTopic: string;
  /** The JSON text of a service account's key; null for the operator's. */
  readonly serviceAccountKey: string | null;
  /** A regional endpoint; null for the global one. */
  readonly endpoint: string | null;
};

export type AmazonKinesisProperties = {
  readonly iamAccessKeyId: string;
  readonly iamSecretAccessKey: string;
  /** `arn:aws:kinesis:<region>:<account>:stream/<name>`. */
  readonly kinesisArn: string;
  /** A private endpoint; null for the region's public one. */
  readonly endpoint: string | null;
};
