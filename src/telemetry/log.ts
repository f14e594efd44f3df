// The structured log: one JSON line an event on stderr, so that stdout stays for what a person reads.
import { type Logger, pino } from 'pino';
import { LogDestination } from './log-destination.ts';

export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** Lines that were dropped because their reader was too slow. */
  readonly dropped: () => number;
  /** Resolves when all lines are written, or when the time is over. */
  readonly flush: (withinMs: number) => Promise<void>;
}

/** `destination` is given whole lines. */
export function createLog(
  level: string,
  destination: Partial<LogDestination> & Pick<LogDestination, 'write'> = new LogDestination(),
): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The last line of defence: no secret should be given to the log in the first place.
      redact: {
        paths: ['*.secret', '*.password', '*.apiKey', '*.uplinkSecret', '*.authorization'],
        censor: '[hidden]',
      },
    },
    { write: (line) => destination.write(line) },
  );
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    dropped: () => destination.dropped?.() ?? 0,
    flush: async (withinMs) => destination.flush?.(withinMs),
  };
}
