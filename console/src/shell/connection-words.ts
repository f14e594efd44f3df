// Words of the connection bar.
import { grouped } from '../words/formats.ts';
import { wordSet } from '../words/word-set.ts';

export const connectionWords = wordSet(
  {
    lost: (at: string, seconds: number) =>
      `Connection lost at ${at}, showing what was there; trying again in ${grouped(seconds)} s`,
    tryNow: 'Try now',
  },
  {
    lost: (at: string, seconds: number) =>
      `Verbindung um ${at} verloren, hier steht der Stand davor; nächster Versuch in ${grouped(seconds)} s`,
    tryNow: 'Jetzt versuchen',
  },
);
