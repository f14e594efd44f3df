// The CoAP endpoint without its socket: datagrams in, datagrams out; each request done once, answered in time, all of it bounded.
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';
import {
  type CoapAnswer,
  codeClass,
  coapCodes,
  refusalAnswer,
  withinMeasure,
} from './coap-answer.ts';
import { createExchanges, type ExchangeLimits } from './coap-exchanges.ts';
import {
  type CoapMessage,
  type CoapType,
  coapTypes,
  emptyMessage,
  encodeMessage,
  parseMessage,
} from './coap-message.ts';
import { coapRequestOf } from './coap-request.ts';
import type { CoapSender } from './coap-sender.ts';
import { createSeparateResponses } from './coap-separate.ts';
import type { SetTimer } from '../../structures/timers.ts';

export interface CoapLimits extends ExchangeLimits {
  /** Requests under way at once; beyond it confirmable ones are told to come later, others are dropped. */
  readonly openMax: number;
}

/** RFC 7252 section 4.8: a sender repeats after two seconds at the earliest, so an acknowledgement leaves before. */
const acknowledgeAfterMs = 1_000;

export interface CoapEvents {
  /** A request was answered; `code` is the byte of its answer. */
  answered(code: number, ms: number): void;
  /** A datagram led to nothing new. */
  failed(error: unknown): void;
  ignored(reason: 'foreign' | 'malformed' | 'reply' | 'duplicate' | 'tooMany' | 'unanswered'): void;
}

export interface CoapEndpointParts {
  /** Never rejects. */
  readonly handle: (
    message: CoapMessage,
    sender: string,
    duplicateKey: string,
  ) => Promise<CoapAnswer>;
  readonly send: (datagram: Buffer, sender: CoapSender) => void;
  /** Runs the task later; the function it returns calls it off. */
  readonly schedule: SetTimer;
  readonly events: CoapEvents;
  readonly limits: CoapLimits;
  readonly now: () => EpochMs;
}

export interface CoapEndpoint {
  /** The datagram may be overwritten only when its exchange has ended. */
  receive(datagram: Buffer, sender: CoapSender): void;
  /** Requests under way. */
  readonly open: number;
  /** Exchanges remembered. */
  readonly remembered: number;
  /** Resolves when nothing is under way. */
  drained(): Promise<void>;
  /** Gives up what waits for acknowledgements. */
  close(): void;
}

interface Asked {
  readonly message: CoapMessage;
  readonly bytes: number;
  readonly sender: CoapSender;
  /** Sender and message id. */
  readonly key: string;
}

export function createCoapEndpoint(parts: CoapEndpointParts): CoapEndpoint {
  const { send, events, now } = parts;
  const exchanges = createExchanges(parts.limits);
  const separate = createSeparateResponses(parts);
  const underWay = new Set<Promise<void>>();

  const reset = (id: number, sender: CoapSender): void =>
    send(encodeMessage(emptyMessage(coapTypes.reset, id)), sender);

  /** Empty messages, replies and whatever else is no request (RFC 7252 sections 4.2 and 4.3). */
  const receiveOther = ({ type, code, id }: CoapMessage, sender: CoapSender): void => {
    if (type === coapTypes.acknowledgement || type === coapTypes.reset) separate.settle(sender, id);
    // An empty confirmable message asks whether somebody is there, and the reset is the answer.
    else if (type === coapTypes.confirmable) reset(id, sender);
    if (code !== 0) events.ignored('reply');
  };

  const begin = (asked: Asked, digest: number): void => {
    const before = exchanges.begin(asked.key, digest, now());
    if (before !== 'new') {
      events.ignored('duplicate');
      if (before !== 'underWay' && before.length > 0) send(before, asked.sender);
      return;
    }
    if (exchanges.open > parts.limits.openMax) {
      exchanges.forget(asked.key);
      events.ignored('tooMany');
      if (asked.message.type === coapTypes.confirmable)
        send(replyTo(asked, busyAnswer), asked.sender);
      return;
    }
    const done = answer(asked, digest).catch((error: unknown) => {
      // Our own fault: the sender hears nothing and tries again, the others are served.
      exchanges.forget(asked.key);
      events.failed(error);
    });
    underWay.add(done);
    void done.finally(() => underWay.delete(done));
  };

  const answer = async (asked: Asked, digest: number): Promise<void> => {
    const { message, sender, key } = asked;
    const startedAt = now();
    let isAcknowledged = false;
    const callOff =
      message.type === coapTypes.confirmable
        ? parts.schedule(() => {
            isAcknowledged = true;
            send(encodeMessage(emptyMessage(coapTypes.acknowledgement, message.id)), sender);
          }, acknowledgeAfterMs)
        : () => undefined;
    const from = `${sender.address} ${sender.port}`;
    const whole = await parts.handle(
      message,
      from,
      `coap ${from} ${message.id} ${digest.toString(36)}`,
    );
    callOff();
    const fitting = withinMeasure(whole, asked.bytes);
    events.answered(fitting.code, now() - startedAt);
    const datagram = reply(asked, fitting, isAcknowledged);
    if (codeClass(fitting.code) === 2) exchanges.accepted(key, datagram);
    else exchanges.refused(key, datagram);
  };

  /** Sends the answer as the request wants it and returns what a repetition of the request is sent. */
  const reply = (asked: Asked, answered: CoapAnswer, isAcknowledged: boolean): Buffer => {
    const { message, sender } = asked;
    const isConfirmable = message.type === coapTypes.confirmable;
    if (isUnwanted(message, answered)) {
      events.ignored('unanswered');
      if (!isConfirmable) return Buffer.alloc(0);
      const acknowledgement = encodeMessage(emptyMessage(coapTypes.acknowledgement, message.id));
      if (!isAcknowledged) send(acknowledgement, sender);
      return acknowledgement;
    }
    if (isConfirmable && !isAcknowledged) {
      const datagram = replyTo(asked, answered);
      send(datagram, sender);
      return datagram;
    }
    // Refusals are sent once: whoever asks in another's name must not have them repeated.
    const mustArrive = isConfirmable && codeClass(answered.code) === 2;
    const type = mustArrive ? coapTypes.confirmable : coapTypes.nonConfirmable;
    return separate.send((id) => encoded(answered, type, id, message.token), sender, mustArrive);
  };

  return {
    receive(datagram, sender) {
      const message = parseMessage(datagram);
      if (message === 'foreign') return events.ignored('foreign');
      if ('malformed' in message) {
        events.ignored('malformed');
        if (message.type === coapTypes.confirmable) reset(message.id, sender);
        return;
      }
      const { type, code, id } = message;
      const isRequest = code !== 0 && codeClass(code) === 0 && type <= coapTypes.nonConfirmable;
      if (!isRequest) return receiveOther(message, sender);
      const key = `${sender.address} ${sender.port} ${id}`;
      begin({ message, bytes: datagram.length, sender, key }, crc32(datagram));
    },
    get open() {
      return exchanges.open;
    },
    get remembered() {
      return exchanges.size;
    },
    async drained() {
      await Promise.all(underWay);
    },
    close: () => separate.close(),
  };
}

/** Without a body, whatever it answers. */
const busyAnswer = withinMeasure(refusalAnswer(undefined, { status: 503 }), 0);

/** The piggybacked answer to a confirmable request. */
function replyTo({ message }: Asked, answered: CoapAnswer): Buffer {
  return encoded(answered, coapTypes.acknowledgement, message.id, message.token);
}

function encoded(answered: CoapAnswer, type: CoapType, id: number, token: Buffer): Buffer {
  const { code, payload } = answered;
  const options = answered.options.toSorted((one, other) => one.number - other.number);
  return encodeMessage({ type, code, id, token, options, payload });
}

function isUnwanted(message: CoapMessage, { code }: CoapAnswer): boolean {
  // Only what ends the request is left out: a sender of blocks waits for each 2.31.
  if (code === coapCodes.continue) return false;
  const request = coapRequestOf(message);
  return !('refused' in request) && (request.unwanted & (1 << (codeClass(code) - 1))) !== 0;
}
