// What an edge thread and the main thread tell each other. Requests and answers travel as flat lists, many in one message: copying those is cheapest.
import type { PayloadEncoding } from '../../model/device-type.ts';
import type { UplinkDevice } from '../../model/uplink.ts';
import type { LocalScriptsStart } from '../../scripting/local-scripts.ts';
import type { ScriptRegistration } from '../../scripting/worker-messages.ts';
import type { LeftJson } from '../../query/unwritten-json.ts';
import type { Certificate } from '../../structures/certificate-watch.ts';
import type { LinkMessage } from './edge-links.ts';

/** Given to an edge when it starts. */
export interface EdgeStart {
  readonly host: string;
  readonly port: number;
  /** The socket file on which the main thread takes the connections that an edge passes on. */
  readonly mainSocket: string;
  readonly publicUrl: string;
  readonly certificate: Certificate | undefined;
  readonly scripts: LocalScriptsStart;
}

export const edgeLimits = {
  /** A larger body is left to the main thread. */
  bodyBytesMax: 64 * 1024,
  /** Devices whose decoder an edge may run, about 1 kB each. */
  ticketsMax: 20_000,
} as const;

/** What a decoder run in an edge needs to know of a device. */
export interface Ticket {
  /** Never given again: a run names what it was made with. */
  readonly id: number;
  /** See `ticketKey`; a ticket replaces the one before with the same key. */
  readonly key: string;
  readonly device: UplinkDevice;
  /** How its payloads are read. */
  readonly encoding: PayloadEncoding | null;
  readonly script: number;
}

/** Under what an edge finds the ticket of a sender. */
export function ticketKey(secret: string, deviceId: string): string {
  return `${secret} ${deviceId}`;
}

export type ToEdge =
  | { readonly kind: 'answers'; readonly words: readonly AnswerWord[] }
  | {
      readonly kind: 'ticket';
      readonly ticket: Ticket;
      /** The key of a ticket that makes room for it. */
      readonly instead: string | undefined;
      /** A script that the edge does not have yet. */
      readonly script: ScriptRegistration | undefined;
    }
  | { readonly kind: 'forget'; readonly script: number }
  | { readonly kind: 'certificate'; readonly certificate: Certificate }
  | LinkMessage
  /** Takes the connections of a further port; with a certificate it speaks TLS. */
  | {
      readonly kind: 'listen';
      readonly listener: number;
      readonly host: string;
      readonly port: number;
      readonly certificate: Certificate | undefined;
    }
  | { readonly kind: 'renew'; readonly listener: number; readonly certificate: Certificate }
  | { readonly kind: 'unlisten'; readonly listener: number }
  | { readonly kind: 'stop' };

export type FromEdge =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'listens'; readonly listener: number }
  | { readonly kind: 'refused'; readonly error: ListenError }
  /** `bytes` holds the bodies, one after the other. */
  | {
      readonly kind: 'requests';
      readonly words: readonly (number | string)[];
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  | LinkMessage
  /** After `stop`: every request that the edge read is answered. */
  | { readonly kind: 'stopped' }
  /** Scripts that the edge no longer runs; `isSlow` when a run took too long or left a state. */
  | { readonly kind: 'forgotten'; readonly scripts: readonly number[]; readonly isSlow: boolean };

/** What the program says of a port that it cannot listen on. */
export interface ListenError {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly port: number | undefined;
}

/** For each answer: the number of its request, the status, the header fields, and the body, which may be left to the edge. */
export type AnswerWord = number | Uint8Array | readonly string[] | LeftJson | undefined;
export const answerWords = 5;

/** A request that an edge read whole. */
export interface WholeRequest {
  readonly number: number;
  readonly method: string;
  readonly url: string;
  /** JSON of the header fields as node:http gives them. */
  readonly headers: string;
  readonly address: string;
  readonly bodyBytes: number;
  readonly run: DecoderRunHere | undefined;
}

/** A run of the device's decoder in the edge. Times are in milliseconds of the epoch. */
export interface DecoderRunHere {
  readonly ticket: number;
  readonly correlationId: string;
  readonly receivedAt: number;
  /** A JSON array of what it emitted. */
  readonly entries: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly durationMs: number;
  readonly processorMs: number;
}

export type Words = (number | string)[];

export function pushRequest(words: Words, request: WholeRequest): void {
  const { number, method, url, headers, address, bodyBytes, run } = request;
  words.push(number, method, url, headers, address, bodyBytes);
  if (run === undefined) words.push(-1);
  else
    words.push(
      run.ticket,
      run.correlationId,
      run.receivedAt,
      run.entries,
      run.startedAt,
      run.endedAt,
      run.durationMs,
      run.processorMs,
    );
}

/** The requests of a message, in the order in which they were pushed. */
export function* requestsOf(words: readonly (number | string)[]): Generator<WholeRequest> {
  let at = 0;
  const number = () => words[at++] as number;
  const text = () => words[at++] as string;
  while (at < words.length) {
    const head = {
      number: number(),
      method: text(),
      url: text(),
      headers: text(),
      address: text(),
      bodyBytes: number(),
    };
    const ticket = number();
    yield { ...head, run: ticket === -1 ? undefined : runOf(ticket) };
  }

  function runOf(ticket: number): DecoderRunHere {
    return {
      ticket,
      correlationId: text(),
      receivedAt: number(),
      entries: text(),
      startedAt: number(),
      endedAt: number(),
      durationMs: number(),
      processorMs: number(),
    };
  }
}
