// Server addresses of ClickHouse: the replicas of each shard, from one setting.

export interface ServerAddress {
  /** `http://host:8123`. */
  readonly origin: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

const databaseStandard = 'heliograph';

/**
 * Shards are separated by semicolons, their replicas by commas. Undefined for anything but URLs such
 * as `http://user:password@host:8123/heliograph`.
 */
export function serverAddresses(
  setting: string,
): readonly (readonly ServerAddress[])[] | undefined {
  const shards = setting
    .split(';')
    .map((shard) => shard.split(',').flatMap((url) => addressOf(url.trim()) ?? []));
  const given = setting.split(/[;,]/).length;
  return shards.flat().length === given ? shards : undefined;
}

function addressOf(text: string): ServerAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, username, password, search } = new URL(text);
  const database = pathname.slice(1) || databaseStandard;
  const isPossible =
    (protocol === 'http:' || protocol === 'https:') &&
    host !== '' &&
    search === '' &&
    /^[A-Za-z_]\w*$/.test(database);
  if (!isPossible) return undefined;
  return {
    origin: `${protocol}//${host}`,
    database,
    user: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  };
}

/** Without user and password: for messages. */
export function placeOf({ origin, database }: ServerAddress): string {
  return `ClickHouse ${origin}/${database}`;
}
