// Words of the connection bar.
import { grouped } from '../../words/formats.ts';
import { wordSet } from '../../words/word-set.ts';

export const connectionWords = wordSet(
  {
    lost: (at: string, seconds: number) =>
      `Connection lost at ${at}. Showing the last known data; retrying in ${grouped(seconds)} s.`,
    tryNow: 'Retry now',
  },
  {
    lost: (at: string, seconds: number) =>
      `Verbindung um ${at} verloren. Angezeigt werden die letzten bekannten Daten; neuer Versuch in ${grouped(seconds)} s.`,
    tryNow: 'Jetzt versuchen',
  },
);
