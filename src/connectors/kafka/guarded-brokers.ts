// Guarded brokers: a Kafka cluster names its brokers itself, so each one passes the egress guard before a connection.
import { isIP } from 'node:net';
import type { Broker, Connection, ConnectionPool, NetworkError } from '@platformatic/kafka';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedAddress } from '../guarded-socket.ts';

type Callback = (error: Error | null, connection: Connection) => void;

/**
 * Makes a pool connect to checked addresses alone. Without TLS the name of a broker is replaced by
 * an address that was checked; with it the name is needed for the certificate, and the guard's own
 * lookup, given with the TLS options, checks it at the connection.
 */
export function guardBrokers(
  pool: ConnectionPool,
  egress: EgressGuard,
  isTls: boolean,
  failure: (message: string, cause: Error) => NetworkError,
): void {
  const connect = pool.get.bind(pool) as (broker: Broker, callback: Callback) => void;
  const checked = async (broker: Broker): Promise<Broker> => {
    if (!isTls) return { ...broker, host: await guardedAddress(egress, broker.host) };
    egress.checkLiteral(broker.host);
    return broker;
  };
  const get = (broker: Broker | undefined, callback: Callback): void => {
    // The pool has its own answer to a broker that the cluster does not know.
    if (typeof broker?.host !== 'string') return connect(broker as unknown as Broker, callback);
    const refuse = (error: Error): void =>
      callback(
        failure(`connection to broker ${broker.host} is not allowed`, error),
        undefined as never,
      );
    checked(broker).then((allowed) => connect(allowed, callback), refuse);
  };
  pool.get = get as ConnectionPool['get'];
}

/** Whether certificates are asked for by name; an address is no server name. */
export function haveNames(brokers: readonly { readonly host: string }[]): boolean {
  return brokers.every(({ host }) => isIP(host) === 0);
}
