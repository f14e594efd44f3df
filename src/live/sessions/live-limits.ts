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
  /** From this many unhandled messages on, or bytes of them, the edge stops reading until they are handled. */
  waitingMessagesPause: 64,
  waitingBytesPause: 1024 * 1024,
  /** A message whose first bytes arrived this many ticks ago and whose last did not ends the connection with 1008. */
  partialTicksMax: 30,
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
  /**
   * Bytes that all sessions keep: unsent frames of readers that are behind, samples kept while a
   * replay runs, unhandled messages and those that have arrived in part. From three quarters on, an
   * organization that holds these alone gets its samples from the store, as above. Beyond the limit
   * sessions of the organization that holds most are cut off, first those that changed least
   * recently.
   */
  sessionBytesMax: 256 * 1024 * 1024,
  /** Counted in blocks of so many bytes; less than one is not counted. */
  sessionBlockBytes: 16 * 1024,
  /** A session that must give way is told why, unless more than this waits in its socket before. */
  toldBehindBytesMax: 1024 * 1024,
} as const;
