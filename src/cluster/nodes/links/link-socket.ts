// Link socket: a connection that carries messages in order, as one end of a link sees it.

export interface LinkSocket {
  /** Queues a message. After the end, nothing is sent. */
  send(message: string): void;
  /** Call once. `closed` is called once, also after an own `close`. */
  listen(listener: LinkSocketListener): void;
  /** Ends the connection without waiting for the other end. */
  close(): void;
}

export interface LinkSocketListener {
  readonly received: (message: string) => void;
  readonly closed: (reason: string) => void;
}
