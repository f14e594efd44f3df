// Words of the note about the zone of times.
import { wordSet } from '../../words/word-set.ts';

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
