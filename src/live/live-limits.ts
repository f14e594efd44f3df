// Limits of one live session and what happens at each of them.

export const liveLimits = {
  /**
   * Bytes of one message; larger ones are refused with MESSAGE_TOO_LARGE and the connection stays
   * open.
   */
  messageBytesMax: 4 * 1024 * 1024,
  /**
   * Bytes of one WebSocket message that are read at all; beyond it the connection ends with 1009.
   */
  frameBytesMax: 8 * 1024 * 1024,
  /**
   * Messages read but not handled yet; the edge stops reading long before, further ones are refused
   * with TOO_MANY_MESSAGES.
   */
  waitingMessagesMax: 20_000,
  /** From this many unhandled messages on the edge stops reading until they are handled. */
  waitingMessagesPause: 64,
  /** Messages read in one tick; a faster client is read slower. */
  messagesPerTickMax: 5_000,
  /**
   * Queued bytes from which on samples are not queued any more but read from the store when the
   * reader has caught up.
   */
  queuedBytesMax: 4 * 1024 * 1024,
  /** What was queued this many ticks ago must have left, or the reader is cut off. */
  slowTicksMax: 4,
  /**
   * A session that lives from the store for this many ticks without catching up is cut off as well.
   */
  behindTicksMax: 600,
  /** The edge ticks every session at this interval. */
  tickMs: 1_000,
  /** A cut or closing connection that does not answer the close frame ends hard after this time. */
  closeGraceMs: 1_500,
  /**
   * Replays and answers wait while more than this many bytes are queued, so they go as fast as the
   * reader.
   */
  replayQueueBytesMax: 64 * 1024,
  /**
   * Live samples kept while a replay runs; when more come the replay goes on from the store
   * instead.
   */
  heldSamplesMax: 1_000,
  heldBytesMax: 2 * 1024 * 1024,
  /** Bytes given to the socket in one write. */
  chunkBytesMax: 64 * 1024,
} as const;
