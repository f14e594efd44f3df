// Sender target: address and credentials of simulated devices.
import type { SimulatedDevice } from './simulation.ts';

export interface SenderTarget {
  readonly host: string;
  /** Of the protocol. */
  readonly port: number;
  /** Whether the connection is encrypted. */
  readonly tls: boolean;
  readonly uplinkSecret: string;
  /** Of the device connector; MQTT clients sign in with it. */
  readonly connectorId: string;
  readonly devices: readonly SimulatedDevice[];
  readonly inFlightMax: number;
}
