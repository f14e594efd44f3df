// Configuration of one ClickHouse server for tests, as version 18.16 of Debian reads it.

export interface ClickHousePorts {
  readonly http: number;
  readonly tcp: number;
  readonly interserver: number;
}

/** Where a server is in a cluster with replicated tables. */
export interface ClickHousePlace {
  /** From 1 on. */
  readonly shard: number;
  readonly replica: number;
  readonly zooKeeperPort: number;
  /** Native ports by shard and replica. */
  readonly cluster: readonly (readonly number[])[];
}

export interface ClickHouseSettings {
  readonly folder: string;
  readonly ports: ClickHousePorts;
  readonly username: string;
  readonly password: string;
  /** Absent for a server without replicas. */
  readonly place?: ClickHousePlace;
  /** Blocks that a replicated table recognizes when they come again. */
  readonly deduplicationWindow?: number;
}

/** The name under which the servers know all shards. */
const clusterName = 'heliograph';

const host = '127.0.0.1';

/** One file for the server and its users. */
export function clickHouseConfig(settings: ClickHouseSettings): string {
  const { folder, ports, username, password, place, deduplicationWindow = 10_000 } = settings;
  return `<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <http_port>${ports.http}</http_port>
  <tcp_port>${ports.tcp}</tcp_port>
  <interserver_http_port>${ports.interserver}</interserver_http_port>
  <interserver_http_host>${host}</interserver_http_host>
  <listen_host>${host}</listen_host>
  <timezone>UTC</timezone>
  <keep_alive_timeout>10</keep_alive_timeout>
  <path>${folder}/data/</path>
  <tmp_path>${folder}/data/tmp/</tmp_path>
  <mark_cache_size>67108864</mark_cache_size>
  <merge_tree>
    <replicated_deduplication_window>${deduplicationWindow}</replicated_deduplication_window>
  </merge_tree>
${place === undefined ? '' : placeConfig(settings, place)}  <users_config>${folder}/config.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <profiles><default><max_memory_usage>4000000000</max_memory_usage></default></profiles>
  <users>
    <${username}>
      <password>${password}</password>
      <networks><ip>${host}</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </${username}>
  </users>
  <quotas><default></default></quotas>
</yandex>
`;
}

function placeConfig({ username, password }: ClickHouseSettings, place: ClickHousePlace): string {
  const { shard, replica, zooKeeperPort, cluster } = place;
  const replicaOf = (port: number): string =>
    `<replica><host>${host}</host><port>${port}</port><user>${username}</user><password>${password}</password></replica>`;
  const shards = cluster.map(
    (ports) =>
      `      <shard><internal_replication>true</internal_replication>${ports.map(replicaOf).join('')}</shard>\n`,
  );
  return `  <zookeeper>
    <node index="1"><host>${host}</host><port>${zooKeeperPort}</port></node>
    <session_timeout_ms>15000</session_timeout_ms>
  </zookeeper>
  <macros><shard>${shard}</shard><replica>${replica}</replica></macros>
  <distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>
  <remote_servers>
    <${clusterName}>
${shards.join('')}    </${clusterName}>
  </remote_servers>
`;
}
