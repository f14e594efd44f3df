// Links: connections that an edge thread holds for the main thread. Their bytes travel in messages, those of many links in one.
import { Duplex } from 'node:stream';

/**
 * What happened to links since the last message: for each event the number of its link, the kind,
 * and a value: of `opened` and `bytes` the index of a part, of `taken` how many bytes.
 */
export interface LinkMessage {
  readonly kind: 'links';
  readonly words: Int32Array<ArrayBuffer>;
  /** Where each part ends in `bytes`. A frame that went to many links is one part. */
  readonly ends: Int32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The HTTP port. */
export const httpListener = 0;

const event = { opened: 0, bytes: 1, taken: 2, ended: 3, cut: 4 } as const;
type EventKind = (typeof event)[keyof typeof event];
const eventWords = 3;

/** A link whose reader is behind has as much on its way, and as much waiting there. */
const windowBytes = 16 * 1024;
/** What is taken is told in parts of this size. */
const toldBytes = windowBytes / 4;

/** The links of one edge, as one of its sides sees them. */
export class Links {
  readonly #post: (message: LinkMessage, transfer: ArrayBuffer[]) => void;
  readonly #opened: (link: Link) => void;
  readonly #open = new Map<number, Link>();
  #lastNumber = 0;
  #words: number[] = [];
  #parts: Uint8Array[] = [];
  /** Indexes of `#parts`. */
  #known = new Map<Uint8Array, number>();

  /** `opened` takes links of the other side. */
  constructor(
    post: (message: LinkMessage, transfer: ArrayBuffer[]) => void,
    opened: (link: Link) => void,
  ) {
    this.#post = post;
    this.#opened = opened;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A link for a connection of the client to the listener. Only one of the sides opens links. */
  open(listener: number, remoteAddress: string): Link {
    const link = this.#newLink(++this.#lastNumber, listener, remoteAddress);
    const from = Buffer.from(`${listener} ${remoteAddress}`);
    this.tell(link.number, event.opened, this.#parts.push(from) - 1);
    return link;
  }

  receive({ words, ends, bytes }: LinkMessage): void {
    const parts: Buffer[] = [];
    // A copy, so that a reader that is behind holds its part of the message alone.
    const partOf = (index: number) =>
      (parts[index] ??= Buffer.from(
        bytes.subarray(index === 0 ? 0 : ends[index - 1], ends[index]),
      ));
    for (let at = 0; at < words.length; at += eventWords) {
      const number = words[at] ?? 0;
      const kind = words[at + 1];
      const value = words[at + 2] ?? 0;
      if (kind === event.opened) {
        const [listener = '', remoteAddress = ''] = partOf(value).toString().split(' ');
        this.#opened(this.#newLink(number, Number(listener), remoteAddress));
      }
      // A link that was cut here may still be written to there.
      const link = this.#open.get(number);
      if (link === undefined) continue;
      if (kind === event.bytes) link.arrived(partOf(value));
      else if (kind === event.taken) link.taken(value);
      else if (kind === event.ended) link.push(null);
      else if (kind === event.cut) link.destroy();
    }
  }

  /** The other side is gone. */
  cutAll(): void {
    for (const link of this.#open.values()) link.destroy();
  }

  sendBytes(number: number, bytes: Uint8Array): void {
    let part = this.#known.get(bytes);
    if (part === undefined) {
      part = this.#parts.push(bytes) - 1;
      this.#known.set(bytes, part);
    }
    this.tell(number, event.bytes, part);
  }

  tell(number: number, kind: EventKind, value = 0): void {
    if (this.#words.length === 0) queueMicrotask(() => this.#send());
    this.#words.push(number, kind, value);
  }

  forget(number: number): void {
    this.#open.delete(number);
  }

  #newLink(number: number, listener: number, remoteAddress: string): Link {
    const link = new Link(this, number, listener, remoteAddress);
    this.#open.set(number, link);
    return link;
  }

  #send(): void {
    const words = Int32Array.from(this.#words);
    const ends = new Int32Array(this.#parts.length);
    const bytes = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let end = 0;
    for (const [at, part] of this.#parts.entries()) {
      bytes.set(part, end);
      end += part.length;
      ends[at] = end;
    }
    this.#words = [];
    this.#parts = [];
    this.#known = new Map();
    this.#post({ kind: 'links', words, ends, bytes }, [words.buffer, ends.buffer, bytes.buffer]);
  }
}

/**
 * One side of a connection between both threads. What was written waits when the other side has no
 * room, as with a socket.
 */
export class Link extends Duplex {
  readonly number: number;
  /** `httpListener`, or the number of another one. */
  readonly listener: number;
  readonly remoteAddress: string;
  readonly #links: Links;
  /** Sent, and not said to be taken. */
  #sentBytes = 0;
  /** Called when the other side has room again. */
  #written: (() => void) | undefined;
  /** Taken, and not said to be. */
  #takenBytes = 0;

  constructor(links: Links, number: number, listener: number, remoteAddress: string) {
    // As sockets of both kinds of servers.
    super({ allowHalfOpen: listener === httpListener, highWaterMark: windowBytes });
    this.#links = links;
    this.number = number;
    this.listener = listener;
    this.remoteAddress = remoteAddress;
  }

  arrived(bytes: Buffer): void {
    this.#takenBytes += bytes.length;
    // Without room for more, `_read` is called later.
    if (this.push(bytes)) this._read();
  }

  taken(bytes: number): void {
    this.#sentBytes -= bytes;
    if (this.#sentBytes >= windowBytes) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  override _read(): void {
    if (this.#takenBytes < toldBytes) return;
    this.#links.tell(this.number, event.taken, this.#takenBytes);
    this.#takenBytes = 0;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    this.#links.sendBytes(this.number, chunk);
    this.#sentBytes += chunk.length;
    if (this.#sentBytes < windowBytes) written();
    else this.#written = written;
  }

  override _final(ended: () => void): void {
    this.#links.tell(this.number, event.ended);
    ended();
  }

  override _destroy(error: Error | null, destroyed: (error?: Error | null) => void): void {
    if (!this.readableEnded || !this.writableFinished) this.#links.tell(this.number, event.cut);
    this.#links.forget(this.number);
    destroyed(error);
  }
}
