// Where a CoAP datagram came from, and where its answer goes.

export interface CoapSender {
  readonly address: string;
  readonly port: number;
}
