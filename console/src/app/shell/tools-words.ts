// Words of the tools of the shell: the connection, and the zone of the times shown.
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

export const zoneWords = wordSet(
  {
    times: (zone: string) => `Times in ${zone}`,
    why: (own: string) => `Your browser is in ${own}. You can change the setting in your account.`,
  },
  {
    times: (zone: string) => `Zeiten in ${zone}`,
    why: (own: string) =>
      `Ihr Browser ist in ${own}. Sie können die Einstellung in Ihrem Konto ändern.`,
  },
);
