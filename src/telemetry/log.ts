// The structured log: one JSON line an event on stderr, so that stdout stays for what a person reads.
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** `destination` is given whole lines. */
export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Log {
  return pino(
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
    destination,
  );
}
