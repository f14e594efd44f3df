// CoAP sender: the address of a datagram and of its answer.

export interface CoapSender {
  readonly address: string;
  readonly port: number;
}
