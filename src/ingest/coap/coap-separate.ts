// CoAP separate responses: sent after the acknowledgement, and repeated until they are acknowledged (RFC 7252 section 4.2).
import type { CoapSender } from './coap-sender.ts';
import type { SetTimer } from '../../structures/timers.ts';

const firstRepeatMs = 2_500;
const repeatsMax = 4;
/** Answers that wait for their acknowledgement; beyond it they are sent once. */
const waitingMax = 2_048;

export interface SeparateResponses {
  /** Sends the message made for a fresh id; `mustArrive` repeats it. Returns its bytes. */
  send(make: (id: number) => Buffer, sender: CoapSender, mustArrive: boolean): Buffer;
  /** The receiver has it, or does not want it. */
  settle(sender: CoapSender, id: number): void;
  close(): void;
}

export interface SeparateParts {
  readonly send: (datagram: Buffer, sender: CoapSender) => void;
  readonly schedule: SetTimer;
}

export function createSeparateResponses({ send, schedule }: SeparateParts): SeparateResponses {
  const waiting = new Map<string, () => void>();
  let lastId = 0;

  const keyOf = ({ address, port }: CoapSender, id: number): string => `${address} ${port} ${id}`;

  const repeat = (key: string, datagram: Buffer, sender: CoapSender, count: number): void => {
    const callOff = schedule(
      () => {
        if (count === repeatsMax) return void waiting.delete(key);
        send(datagram, sender);
        repeat(key, datagram, sender, count + 1);
      },
      firstRepeatMs * 2 ** count,
    );
    waiting.set(key, callOff);
  };

  return {
    send(make, sender, mustArrive) {
      lastId = (lastId + 1) % 0x1_0000;
      const datagram = make(lastId);
      send(datagram, sender);
      const key = keyOf(sender, lastId);
      if (mustArrive && waiting.size < waitingMax && !waiting.has(key))
        repeat(key, datagram, sender, 0);
      return datagram;
    },
    settle(sender, id) {
      const key = keyOf(sender, id);
      waiting.get(key)?.();
      waiting.delete(key);
    },
    close() {
      for (const callOff of waiting.values()) callOff();
      waiting.clear();
    },
  };
}
